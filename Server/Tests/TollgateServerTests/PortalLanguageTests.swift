import Foundation
import StripeAPI
import StripeSimulator
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("The customer portal in a customer's language")
struct PortalLanguageTests {
    /// A browser of staff's kind, which keeps several cookies, inside the portal of somebody.
    private static func visitor(_ shop: Shop, _ customer: String) async throws -> StaffBrowser {
        let session = try await shop.server.session(of: customer)
        let link = try await shop.server.post("/v1/portal_sessions", as: session, "{}")
        var browser = StaffBrowser(shop.server)
        let address = try #require(link.json["url"].string)
        let page = try await browser.open(address.replacing(TestServer.publicURL, with: ""))
        #expect(page.status == 200)
        return browser
    }

    @Test("A plan says its next charge, with amount and date; a cancelled one that there is none")
    func nextCharge() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            var browser = try await shop.server.portal(of: id)
            let page = try await browser.open("/portal")
            #expect(page.text.contains("Next charge: $9.99 on 1 February 2026"))
            let cancelled = try await browser.press("cancel")
            #expect(cancelled.text.contains("Nothing more is charged."))
            #expect(!cancelled.text.contains("Next charge"))
        }
    }

    @Test(
        "The next charge counts the seats, and a plan that ends in a later period is charged till then"
    )
    func laterEnd() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            let subscription = try await shop.subscription()
            let item = try #require(subscription.items.data.first?.id)
            let path = "/v1/subscriptions/\(subscription.id)"
            _ = try await shop.call(
                "POST",
                path,
                "items[0][id]=\(item)&items[0][quantity]=3&proration_behavior=none"
            )
            await shop.stripe.settle()
            var browser = try await shop.server.portal(of: id)
            let seats = try await browser.open("/portal")
            #expect(seats.text.contains("Next charge: $29.97 on 1 February 2026"))
            let end = Shop.start / 1000 + 45 * 86_400
            _ = try await shop.call("POST", path, "cancel_at=\(end)")
            await shop.stripe.settle()
            // What was said in the second of a read is read again.
            try await shop.wait(hours: 1)
            let page = try await browser.open("/portal")
            #expect(page.text.contains("Ends on 15 February 2026"))
            #expect(page.text.contains("Next charge on 1 February 2026"))
            #expect(!page.text.contains("Nothing more is charged."))
        }
    }

    @Test("A schedule may change what a plan costs next, so the page says the day alone")
    func scheduledChange() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            let subscription = try await shop.subscription().id
            _ = try await shop.call(
                "POST",
                "/v1/subscription_schedules",
                "from_subscription=\(subscription)"
            )
            await shop.stripe.settle()
            // What was said in the second of a read is read again.
            try await shop.wait(hours: 1)
            var browser = try await shop.server.portal(of: id)
            let scheduled = try await browser.open("/portal").text
            #expect(scheduled.contains("Next charge on 1 February 2026"))
            #expect(!scheduled.contains("Next charge: "))
        }
    }

    @Test("The page has the browser's language until one is chosen, which is kept")
    func languages() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            var browser = try await Self.visitor(shop, id)
            browser.language = "ja,en;q=0.5"
            let japanese = try await browser.open("/portal")
            #expect(japanese.text.contains("<html lang=\"ja\">"))
            #expect(japanese.words.contains("次回の請求: 2026年2月1日に $9.99"))
            #expect(japanese.words.contains("2026年2月1日に更新"))
            // Every text is in this language.
            #expect(!japanese.words.contains("Renews") && !japanese.words.contains("Invoices"))
            let english = try await browser.open("/portal?lang=en")
            #expect(english.text.contains("<html lang=\"en\">"))
            #expect(english.words.contains("Your purchases"))
            #expect(try await browser.open("/portal").text.contains("<html lang=\"en\">"))
            // What is no language changes nothing.
            #expect(try await browser.open("/portal?lang=xx").text.contains("<html lang=\"en\">"))
        }
    }

    @Test(
        "A customer reads dates and amounts as people of their language write them",
        arguments: [
            ("de-AT", "de", "Nächste Zahlung: 9,99\u{A0}$ am 1. Februar 2026"),
            ("es-MX", "es", "Próximo cobro: 9,99\u{A0}$ el 1 de febrero de 2026"),
            ("fr", "fr", "Prochain débit : 9,99\u{A0}$ le 1er février 2026"),
            ("ko-KR", "ko", "다음 청구: 2026년 2월 1일에 $9.99"),
            ("zh-CN", "zh-Hans", "下次收费：2026年2月1日，$9.99"),
            // Readers of traditional characters, and of languages without texts, get English.
            ("zh-TW", "en", "Next charge: $9.99 on 1 February 2026"),
            ("pl", "en", "Next charge: $9.99 on 1 February 2026"),
        ]
    )
    func formats(_ accepted: String, _ language: String, _ words: String) async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            var browser = try await Self.visitor(shop, id)
            browser.language = accepted
            let page = try await browser.open("/portal")
            #expect(page.text.contains("<html lang=\"\(language)\">"))
            #expect(page.text.contains(words))
            // Every language is one press away, in its own words.
            for code in ["de", "en", "es", "fr", "ja", "ko", "zh-Hans"] where code != language {
                #expect(page.text.contains("href=\"/portal?lang=\(code)\""))
            }
        }
    }

    @Test("All invoices are there, twelve to a page")
    func invoices() async throws {
        try await Shop.run { shop in
            let id = try await shop.server.customer("reader-1")
            try await shop.buy("pro_monthly", for: id)
            try await shop.wait(days: 14 * 31)
            var browser = try await shop.server.portal(of: id)
            let first = try await browser.open("/portal")
            let newest = first.text.matches(of: /<li class="invoice">/).count
            #expect(newest == 12 && first.text.contains("/portal?page=2#invoices"))
            #expect(!first.text.contains("Newer invoices"))
            let second = try await browser.open("/portal?page=2")
            let older = second.text.matches(of: /<li class="invoice">/).count
            #expect((1...12).contains(older) && second.text.contains("Newer invoices"))
            #expect(!second.text.contains("Older invoices"))
            for page in ["0", "-1", "99", "x", "9223372036854775808"] {
                #expect(try await browser.send("/portal?page=\(page)").status == 200)
            }
        }
    }
}
