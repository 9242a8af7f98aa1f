import Foundation
import Storage
import Stores
import StripeSimulator
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// What switches, several servers and the outbox make of emails to customers.
@Suite("Emails to customers that are switched off and on")
struct LetterSwitchTests {
    @Test("A kind that was off begins anew: what waited, and what came in between, is not sent")
    func offAndOn() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            let ann = try await desk.customer("ann")
            desk.mailbox.refuse("ann@example.com", MailFailed("451 later"))
            try await shop.buy("coins_100", for: ann)
            #expect(try await !desk.work())
            #expect(try await desk.outbox().map(\.status) == [.waiting])
            desk.mailbox.refuse("ann@example.com", nil)
            desk.wall.advance(seconds: 601)
            #expect(await shop.server.tollgate.noteLettersAreOff(wall: desk.wall.now))
            try await shop.buy("coins_100", for: ann)
            try await shop.wait(hours: 1)
            #expect(try await desk.work())
            #expect(try await desk.outbox().map(\.status) == [.dropped])
            #expect(desk.mailbox.tries == 1)
            try await shop.wait(hours: 1)
            try await shop.buy("coins_100", for: ann)
            #expect(try await desk.work())
            #expect(try await desk.outbox().count == 2 && desk.delivered.count == 1)
        }
    }

    @Test("A server that has a kind off leaves it to the one that has it on")
    func severalServers() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            var other = desk
            other.settings.kinds = [.lapsed]
            try await shop.buy("coins_100", for: desk.customer("ann"))
            #expect(try await other.work())
            #expect(await shop.server.tollgate.noteLettersAreOff(wall: desk.wall.now))
            #expect(try await desk.outbox().map(\.status) == [.waiting])
            #expect(try await desk.work())
            #expect(try await desk.outbox().map(\.status) == [.sent])
            // What nobody sends ends by its age.
            try await shop.buy("coins_100", for: desk.customer("ann"))
            #expect(try await other.work())
            try await shop.wait(days: 4)
            #expect(try await other.work())
            #expect(
                try await desk.outbox().map(\.status).sorted { $0.rawValue < $1.rawValue }
                    == [.sent, .dropped]
            )
        }
    }

    @Test(
        "The mail server accepts none only if none was accepted since",
        arguments: Backend.allCases
    )
    func stuck(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            let letters = shop.server.tollgate.store.letters
            func stuck() async throws -> Instant? {
                let now = await shop.server.tollgate.clocks.now()
                return try await letters.counts(at: now, failedSince: now).stuck(at: desk.wall.now)
            }
            desk.mailbox.refuse("ann@example.com", MailFailed("451 later"))
            try await shop.buy("coins_100", for: desk.customer("ann"))
            let first = desk.wall.now
            #expect(try await !desk.work())
            desk.wall.advance(seconds: 10)
            #expect(try await stuck() == first)
            try await shop.buy("coins_100", for: desk.customer("bob"))
            #expect(try await desk.work())
            #expect(try await stuck() == nil)
            let statuses = Set(try await desk.outbox().map(\.status))
            #expect(statuses == [.waiting, .sent])
        }
    }

    @Test(
        "A letter that was dropped waits again, one that was sent does not",
        arguments: Backend.allCases
    )
    func revived(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            try await desk.tryOut(desk.customer("ann"), days: 7)
            #expect(try await desk.work())
            let letters = shop.server.tollgate.store.letters
            let now = desk.wall.now
            for (status, after) in [
                (LetterRow.Status.dropped, LetterRow.Status.waiting), (.sent, .sent),
            ] {
                let row = try #require(try await desk.outbox().first)
                #expect(row.status == .waiting && row.attempts == 0)
                let result = LetterResult(status, retry: now, outcome: "It was settled.")
                try await letters.settle(row, result, now: now)
                let place = try await letters.progress()
                try await letters.take([row], from: place, to: place ?? [], now: now)
                #expect(try await desk.outbox().map(\.status) == [after])
            }
        }
    }
}
