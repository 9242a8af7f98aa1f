import Foundation
import Storage
import Testing
import TollgateService
import TollgateSimulation

@Suite("Saved views of the dashboard")
struct DashboardViewTests {
    private static let report = "/dashboard/reports/revenue"
    private static let filters = "from=2026-06-01&to=2026-06-30&store=stripe&sort=-2"

    @Test(
        "The filters and the order of a page are kept under a name, and shown again",
        arguments: Backend.allCases
    )
    func kept(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            var browser = try await server.staff(.viewer)
            let chosen = try await browser.open("\(Self.report)?\(Self.filters)&at=500")
            let field = try #require(chosen.field("address")).replacing("&amp;", with: "&")
            let page = try await browser.keep("June, <Stripe>", field)
            #expect(page.words.contains("The view is saved."))
            #expect(page.text.contains("June, &lt;Stripe&gt;</a>"))
            let address = Self.report + "?" + Self.filters.replacing("&", with: "&amp;")
            #expect(page.text.contains("href=\"\(address)\" aria-current=\"page\""))

            let plain = try await browser.open(Self.report)
            #expect(plain.text.contains("href=\"\(address)\">"))
            #expect(!(try await browser.open("/dashboard/reports/mrr")).words.contains("June"))

            let removed = try await browser.press(
                "/dashboard/views/remove",
                ["page": Self.report, "name": "June, <Stripe>"]
            )
            #expect(removed.words.contains("The view is removed."))
            #expect(!removed.words.contains("June"))
        }
    }

    @Test("Views are personal, and go with whoever leaves")
    func personal() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.viewer)
            _ = try await browser.open(Self.report)
            _ = try await browser.keep("Mine", Self.report)
            var other = try await server.staff(.admin)
            #expect(!(try await other.open(Self.report)).words.contains("Mine"))
            let views = try await server.tollgate.store.driver.readNow(
                "SELECT staff FROM staff_view",
                []
            )
            let owner = try #require(views.first).text(0)
            try await server.tollgate.staff.remove(owner)
            let left = try await server.tollgate.store.driver.readNow(
                "SELECT staff FROM staff_view",
                []
            )
            #expect(left.isEmpty)
        }
    }

    @Test("The same name replaces a view; a bad name and the 101st view are refused")
    func limits() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.viewer)
            _ = try await browser.open(Self.report)
            for name in ["", "   ", String(repeating: "x", count: 61)] {
                let page = try await browser.keep(name, Self.report)
                #expect(page.status == 400 && page.words.contains("1 to 60 characters"))
            }
            let long = "\(Self.report)?country=" + String(repeating: "x", count: 2001)
            #expect(try await browser.keep("long", long).status == 400)
            for number in 1...100 {
                let page = try await browser.keep("View \(number)", Self.report)
                #expect(page.status == 200)
            }
            let page = try await browser.keep("View 101", Self.report)
            #expect(page.status == 409 && page.words.contains("Remove one first"))
            #expect(try await browser.keep("View 100", "\(Self.report)?by=day").status == 200)
        }
    }

    @Test("No view leads out of the dashboard")
    func inside() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.viewer)
            _ = try await browser.open(Self.report)
            let elsewhere = [
                "https://evil.example/", "//evil.example", "/portal", "javascript:alert(1)",
            ]
            for address in elsewhere {
                let page = try await browser.send(
                    "/dashboard/views/keep",
                    form: ["form": browser.form ?? "", "name": "out", "address": address]
                )
                #expect(page.location == "/dashboard?done=view_kept")
            }
        }
    }
}

extension StaffBrowser {
    fileprivate mutating func keep(_ name: String, _ address: String) async throws -> Page {
        try await press("/dashboard/views/keep", ["name": name, "address": address])
    }
}
