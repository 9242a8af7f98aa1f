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

@Suite("Emails to customers")
struct LetterTests {
    private static func kinds(_ desk: LetterDesk) async throws -> [String] {
        try await desk.outbox().map(\.kind).sorted()
    }

    @Test(
        "A payment on the web has one receipt, however often the work is done",
        arguments: Backend.allCases
    )
    func receipt(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            try await shop.buy("pro_monthly", for: desk.customer("ann"))
            for _ in 0..<3 { #expect(try await desk.work()) }
            let letter = try #require(desk.delivered.first)
            #expect(desk.delivered.count == 1 && letter.recipient == "ann@example.com")
            #expect(letter.header.contains("From: Example <billing@example.com>\r\n"))
            #expect(letter.header.contains("Subject: Your receipt for Pro, monthly\r\n"))
            #expect(letter.text.contains("payment of $9.99 for Pro, monthly"))
            #expect(letter.text.contains("1 January 2026"))
            #expect(letter.html.contains("<a href=\"\(TestServer.publicURL)/portal\">"))
            // Nobody can unsubscribe from receipts.
            #expect(letter.unsubscribe == nil)
            let row = try #require(try await desk.outbox().first)
            #expect(row.status == .sent && row.attempts == 1)
            // The next month is another cause.
            try await shop.wait(days: 31)
            try await shop.wait(hours: 2)
            #expect(try await desk.work())
            #expect(desk.delivered.count == 2)
            #expect(Set(desk.delivered.map(\.messageID)).count == 2)
        }
    }

    @Test("A failed renewal has one notice, however often the card is tried")
    func failed() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            let ann = try await desk.customer("ann")
            try await shop.buy("pro_monthly", for: ann, card: "4000000000000341")
            #expect(try await desk.work())
            try await shop.wait(days: 31)
            for hours: Int64 in [2, 24, 72] {
                try await shop.wait(hours: hours)
                #expect(try await desk.work())
            }
            let notices = desk.delivered.filter { $0.header.contains("for Pro, monthly failed") }
            #expect(notices.count == 1)
            #expect(notices.first?.text.contains("\(TestServer.publicURL)/portal") == true)
            #expect(notices.first?.unsubscribe == nil)
        }
    }

    @Test("A trial is reminded of three days before its end, unless it was cancelled")
    func trial() async throws {
        for isCancelled in [false, true] {
            try await Shop.run { shop in
                let desk = try await LetterDesk.open(shop)
                let ann = try await desk.customer("ann")
                try await desk.tryOut(ann, days: 7)
                #expect(try await desk.work())
                try await shop.wait(days: 3)
                #expect(try await desk.work())
                #expect(desk.delivered.isEmpty)
                if isCancelled {
                    try await shop.stripe.cancel(
                        subscription: shop.subscription().id,
                        atPeriodEnd: true
                    )
                }
                try await shop.wait(days: 1)
                try await shop.wait(hours: 1)
                for _ in 0..<2 { #expect(try await desk.work()) }
                guard !isCancelled else {
                    #expect(desk.delivered.isEmpty)
                    #expect(try await desk.outbox().map(\.status) == [.dropped])
                    return
                }
                let letter = try #require(desk.delivered.first)
                #expect(desk.delivered.count == 1)
                #expect(letter.text.contains("ends on 8 January 2026"))
                #expect(letter.header.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"))
            }
        }
    }

    @Test("A plan that has ended has one notice, in the customer's language")
    func lapsed() async throws {
        try await Shop.run { shop in
            let desk = try await LetterDesk.open(shop)
            let ann = try await desk.customer("ann", language: "ja-JP")
            try await shop.buy("pro_monthly", for: ann)
            try await shop.stripe.cancel(subscription: shop.subscription().id, atPeriodEnd: true)
            #expect(try await desk.work())
            #expect(desk.delivered.map(\.text).first?.contains("お支払い") == true)
            try await shop.wait(days: 32)
            for _ in 0..<2 { #expect(try await desk.work()) }
            #expect(try await Self.kinds(desk) == ["lapsed", "receipt"])
            let letter = try #require(desk.delivered.last)
            #expect(letter.text.contains("2026年2月1日に終了しました"))
            #expect(letter.html.contains("<html lang=\"ja\">"))
        }
    }

    @Test("An address that has unsubscribed gets receipts alone (B5)", arguments: Backend.allCases)
    func unsubscribed(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            let ann = try await desk.customer("ann")
            try await desk.tryOut(ann, days: 5)
            try await shop.wait(days: 2)
            try await shop.wait(hours: 1)
            #expect(try await desk.work())
            let link = try #require(desk.delivered.first?.unsubscribe)
            #expect(!link.contains("ann"))
            let letters = shop.server.tollgate.store.letters
            // Programs that look at links unsubscribe nobody.
            let page = try await shop.server.send(.get, link, as: nil)
            #expect(page.status == 200 && page.text.contains("<form method=\"post\""))
            let wrong = link.replacing("signature=", with: "signature=0")
            #expect(try await shop.server.send(.post, wrong, as: nil).status == 404)
            let name = try #require(
                RowKey(hex: String(link.split(separator: "=")[1].prefix(32)))
            )
            #expect(try await !letters.isRefused(name))
            let done = try await shop.server.send(
                .post,
                link,
                as: nil,
                body: Array("List-Unsubscribe=One-Click".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"]
            )
            #expect(done.status == 200)
            // It is cancelled, ends, and nobody is told; the payment has a receipt.
            try await shop.wait(days: 4)
            try await shop.stripe.cancel(subscription: shop.subscription().id, atPeriodEnd: false)
            #expect(try await desk.work())
            let rows = try await desk.outbox()
            #expect(rows.first { $0.kind == "lapsed" }?.status == .dropped)
            #expect(rows.first { $0.kind == "receipt" }?.status == .sent)
            // An erasure takes the letters and leaves the refusal.
            #expect(try await shop.server.send(.delete, "/v1/customers/\(ann)").status == 200)
            #expect(try await desk.outbox().isEmpty)
            #expect(try await letters.isRefused(name))
            #expect(try await desk.work())
            #expect(try await desk.outbox().isEmpty)
        }
    }

    @Test("A letter that waits goes with its customer", arguments: Backend.allCases)
    func erased(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let desk = try await LetterDesk.open(shop)
            let ann = try await desk.customer("ann")
            try await desk.tryOut(ann, days: 7)
            #expect(try await desk.work())
            let waiting = try await desk.outbox()
            #expect(waiting.map(\.status) == [.waiting])
            #expect(try await shop.server.send(.delete, "/v1/customers/\(ann)").status == 200)
            #expect(try await desk.outbox().isEmpty)
            // A server that had read the events before the erasure adds nothing after it.
            let letters = shop.server.tollgate.store.letters
            let place = try await letters.progress()
            try await letters.take(waiting, from: place, to: place ?? [], now: desk.wall.now)
            #expect(try await desk.outbox().isEmpty)
        }
    }
}
