import Foundation
import HTTPTypes
import Storage
import Stores
import StripeAPI
import StripeSimulator
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// What mail servers, crashes and settings make of emails to customers.
@Suite("The delivery of emails to customers")
struct LetterDeliveryTests {
    private struct Crash: Error {}

    @Test(
        "A server that dies between sending and keeping that sends twice, with one Message-ID",
        arguments: Backend.allCases
    )
    func crash(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            try await shop.buy("pro_monthly", for: desk.customer("ann"))
            let mailbox = desk.mailbox
            let isWell = try await desk.work { mail, _ in
                try await mailbox.take(mail)
                throw Crash()
            }
            #expect(!isWell && mailbox.mails.count == 1)
            // It waits for its time.
            #expect(try await desk.work())
            #expect(mailbox.mails.count == 1)
            desk.wall.advance(seconds: 61)
            for _ in 0..<3 { #expect(try await desk.work()) }
            #expect(mailbox.mails.count == 2)
            #expect(Set(desk.delivered.map(\.messageID)).count == 1)
        }
    }

    @Test("A refusal for good ends with its reason, without the address, until staff send it again")
    func refused() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            try await shop.buy("pro_monthly", for: desk.customer("ann"))
            let answer = "localhost:25 refused the mail: ‘550 5.1.1 <ANN@example.com> unknown’."
            let failure = MailFailed(answer, isPermanent: true, about: .recipient)
            desk.mailbox.refuse("ann@example.com", failure)
            #expect(try await desk.work())
            desk.wall.advance(seconds: 86_400)
            #expect(try await desk.work())
            let row = try #require(try await desk.outbox().first)
            #expect(row.status == .refused && desk.mailbox.tries == 1)
            #expect(row.outcome == "localhost:25 refused the mail: ‘550 5.1.1 <…> unknown’.")
            let metrics = await shop.server.tollgate.metrics.text()
            #expect(
                metrics.contains("tollgate_emails_total{kind=\"receipt\",outcome=\"refused\"} 1")
            )
            // One unknown mailbox is no alarm.
            let now = await shop.server.tollgate.clocks.now()
            let letters = shop.server.tollgate.store.letters
            let start = Instant(milliseconds: 0)
            #expect(try await letters.counts(at: now, failedSince: start).failed == 0)

            var browser = try await shop.server.staff(.support)
            let page = try await browser.open("/dashboard/emails")
            #expect(page.words.contains("550 5.1.1 <…> unknown") || page.text.contains("550 5.1.1"))
            #expect(!page.text.contains("ann@example.com"))
            // The button does not depend on the page that is shown.
            let last = try await browser.open("/dashboard/emails?after=\(row.key.hex)")
            #expect(last.text.contains("action=\"/dashboard/emails/retry\""))
            desk.mailbox.refuse("ann@example.com", nil)
            #expect(try await letters.retryFailed(at: now) == 1)
            #expect(try await desk.work())
            #expect(try await desk.outbox().map(\.status) == [.sent])
        }
    }

    @Test("What may pass is tried again, also a refused login, until the letter is too old")
    func again() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            try await shop.buy("pro_monthly", for: desk.customer("ann"))
            for (failure, tries) in [
                (MailFailed("Nobody answers at localhost:25."), 1),
                (MailFailed("The login was refused.", isPermanent: true), 2),
            ] {
                desk.mailbox.refuse("ann@example.com", failure)
                #expect(try await !desk.work())
                #expect(desk.mailbox.tries == tries)
                #expect(try await desk.outbox().map(\.status) == [.waiting])
                desk.wall.advance(seconds: 300)
            }
            try await shop.wait(days: 4)
            #expect(try await desk.work())
            let row = try #require(try await desk.outbox().first)
            #expect(row.status == .failed && desk.mailbox.tries == 2)
            let outcome =
                "It was too old to be sent again. Last attempt: The login was refused."
            #expect(row.outcome == outcome)
            let now = await shop.server.tollgate.clocks.now()
            #expect(try await shop.server.tollgate.store.letters.retryFailed(at: now) == 0)
            #expect(try await desk.work())
            #expect(try await desk.outbox().map(\.outcome) == [outcome])
        }
    }

    @Test("What is older than the switch, or three days, is no news")
    func old() async throws {
        try await Shop.run { shop in
            let ann = try await LetterDesk(shop).customer("ann")
            // Before any letters were switched on.
            try await shop.buy("coins_100", for: ann)
            try await shop.wait(hours: 1)
            var desk = try LetterDesk(shop, kinds: [.lapsed])
            #expect(try await desk.work())
            try await shop.buy("coins_100", for: ann)
            try await shop.wait(hours: 1)
            // Receipts are switched on later, while the event of the second payment waits.
            desk.settings.kinds = Set(Letter.Kind.allCases)
            #expect(try await desk.work())
            #expect(try await desk.outbox().isEmpty)
            // Nobody worked for four days.
            try await shop.buy("coins_100", for: ann)
            try await shop.wait(days: 4)
            #expect(try await desk.work())
            #expect(try await desk.outbox().isEmpty)
            try await shop.buy("coins_100", for: ann)
            try await shop.wait(hours: 1)
            #expect(try await desk.work())
            #expect(try await desk.outbox().map(\.status) == [.sent])
        }
    }

    @Test("Test purchases, other kinds and customers without an address have no letters")
    func without() async throws {
        try await Shop.run { shop in
            var desk = try await LetterDesk.open(shop)
            desk.settings.includesSandbox = false
            try await shop.buy("coins_100", for: desk.customer("ann"))
            #expect(try await desk.work())
            desk.settings.includesSandbox = true
            desk.settings.kinds = [.lapsed]
            // By now no other server may have them on.
            desk.wall.advance(seconds: 601)
            try await shop.buy("coins_100", for: desk.customer("ann"))
            #expect(try await desk.work())
            desk.settings.kinds = Set(Letter.Kind.allCases)
            #expect(try await desk.work())
            try await shop.buy("coins_100", for: shop.server.customer("nobody"))
            #expect(try await desk.work())
            #expect(try await desk.outbox().isEmpty && desk.mailbox.tries == 0)
        }
    }
}
