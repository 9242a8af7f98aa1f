import Foundation
import NIOHTTP1
import Testing
import TollgateService
import TollgateSimulation

@Suite("Addresses where there is nothing")
struct BrowserPageTests {
    private static let accept = ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"]

    @Test("A browser sees a page in its language, at / and where there is nothing")
    func pages() async throws {
        try await TestServer.run { server in
            var browser = StaffBrowser(server)
            let home = try await browser.send("/", headers: Self.accept)
            #expect(home.status == 200 && home.words.contains("To the dashboard"))
            let lost = try await browser.send("/no/such/page", headers: Self.accept)
            #expect(lost.status == 404 && lost.words.contains("There is no page at this address"))
            for page in [home, lost] {
                #expect(page.headers.first(name: "Content-Type") == "text/html; charset=utf-8")
                #expect(page.text.matches(of: /<h1/).count == 1)
                #expect(page.text.contains("rel=\"icon\""))
            }
            browser.language = "ja"
            let japanese = try await browser.send("/", headers: Self.accept)
            #expect(japanese.text.contains("<html lang=\"ja\">"))
        }
    }

    @Test("A page says by which clock its times are")
    func clocks() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin)
            for (path, words) in [
                ("/dashboard/audit", "Times are real time, in UTC."),
                ("/dashboard/health", "by both clocks"),
                ("/dashboard/purchases", "Times are"),
            ] {
                let page = try await browser.open(path)
                #expect(page.words.contains(words), "\(path)")
            }
            let purchases = try await browser.open("/dashboard/purchases")
            #expect(!purchases.words.contains("Times are real time"))
        }
    }

    @Test("Pages of Checkout have the browser's language")
    func checkout() async throws {
        try await TestServer.run { server in
            var browser = StaffBrowser(server)
            for (language, words) in [
                ("en", "You were not charged"), ("ja", "請求は行われていません"),
                ("de", "Es wurde nichts berechnet"), ("es", "No se te ha cobrado"),
                ("fr", "Vous n’avez pas été débité"), ("ko", "요금이 청구되지 않았습니다"),
                ("zh-Hans", "未向您收费"),
            ] {
                browser.language = language
                let page = try await browser.send("/checkout_redirect/cancel")
                #expect(page.status == 200 && page.words.contains(words))
                #expect(page.text.contains("<html lang=\"\(language)\">"))
                let link = try await browser.send("/portal")
                #expect(link.status == 401 && link.text.contains("<html lang=\"\(language)\">"))
            }
        }
    }

    @Test("A program gets the JSON of an error there, as before")
    func json() async throws {
        try await TestServer.run { server in
            var program = StaffBrowser(server)
            for path in ["/", "/no/such/page", "/v1/nothing"] {
                let answer = try await program.send(path)
                #expect(answer.status == 404 && answer.text.contains("resource_missing"), "\(path)")
            }
            // An address that takes other methods says which, to browsers too.
            let posted = try await program.send("/webhooks/stripe", headers: Self.accept)
            #expect(posted.status == 405)
        }
    }

    @Test("The feed names each event's type and says what it means; the journal says where from")
    func meanings() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins("buyer")
            await server.tollgate.events.publish()
            var browser = try await server.staff(.viewer)
            let feed = try await browser.open("/dashboard/events")
            #expect(feed.words.contains("coins.changed"))
            #expect(feed.words.contains("The balance of coins has changed"))
            #expect(feed.words.contains("buyer"))
            let journal = try await browser.open("/dashboard/deliveries")
            #expect(journal.words.contains("Signed by the store"))
            #expect(journal.words.contains("100 coins: bought, $10.00"))
            browser.language = "ja"
            let japanese = try await browser.open("/dashboard/events")
            #expect(japanese.words.contains("コインの残高が変わりました"))
        }
    }
}
