// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing
import TollgateCore
import TollgateService

@Suite("The dashboard's page Doctor")
struct DashboardDoctorTests {
    private static let findings: [Finding] = [
        .ok("clock", "This clock agrees."),
        .warning("backups", "No folder of backups is named.", "Set TOLLGATE_BACKUPS."),
        .failed("stripe.key", "Stripe refuses the key <sk>", "Copy the key."),
        .skipped("google_play", "Google Play is not set up."),
    ]

    private final class Times: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }

    @Test(
        "An admin runs the checks, and reads every finding with its remedy",
        arguments: ["en", "ja"]
    )
    func asked(_ language: String) async throws {
        let times = Times()
        let checkUp = CheckUp([
            .init("all") {
                times.add()
                return Self.findings
            }
        ])
        try await TestServer.run(checkUp: checkUp) { server in
            var browser = try await server.staff(.admin)
            browser.language = language
            let before = try await browser.open("/dashboard/doctor")
            #expect(before.status == 200)
            #expect(before.text.contains("href=\"/dashboard/doctor\""))
            #expect(!before.text.contains("stripe.key"))
            #expect(times.value == 0, "looking asks nobody")
            let page = try await browser.press("/dashboard/doctor/ask")
            #expect(page.status == 200)
            #expect(times.value == 1)
            for finding in Self.findings {
                #expect(page.text.contains(finding.check))
                if let remedy = finding.remedy { #expect(page.text.contains(remedy.text)) }
            }
            #expect(page.text.contains("Stripe refuses the key &lt;sk&gt;."))
            #expect(!page.text.contains("{{"))
        }
    }

    @Test("Nobody but an admin asks, and only with the token of a form")
    func others() async throws {
        let checkUp = CheckUp([.init("all") { Self.findings }])
        try await TestServer.run(checkUp: checkUp) { server in
            var support = try await server.staff(.support)
            let page = try await support.open("/dashboard/doctor")
            #expect(page.status == 403)
            let pressed = try await support.press("/dashboard/doctor/ask")
            #expect(pressed.status == 403)
            let overview = try await support.open("/dashboard")
            #expect(!overview.text.contains("/dashboard/doctor"))
            var admin = try await server.staff(.admin)
            let forged = try await admin.open("/dashboard/doctor/ask", form: [:])
            #expect(forged.status == 403)
        }
    }

    @Test("A server without a check-up has no such page")
    func absent() async throws {
        try await TestServer.run { server in
            var browser = try await server.staff(.admin)
            let page = try await browser.open("/dashboard/doctor")
            #expect(page.status == 404)
            let overview = try await browser.open("/dashboard")
            #expect(!overview.text.contains("/dashboard/doctor"))
        }
    }

    // MARK: - Test messages

    private static func alerts() throws -> AlertSettings {
        AlertSettings(
            bounds: AlertBounds(),
            webhook: try AlertWebhook(
                url: "https://hooks.example.com/services/secret",
                secret: nil,
                allowsPrivate: false
            ),
            email: AlertTests.email
        )
    }

    @Test(
        "An admin sends a test message, and reads which channel took it and why another did not",
        arguments: ["en", "ja"]
    )
    func tried(_ language: String) async throws {
        let checkUp = CheckUp([.init("all") { Self.findings }])
        try await TestServer.run(checkUp: checkUp, alerts: try Self.alerts()) { server in
            server.receiver.answer { _ in WebhookResponse(status: 404) }
            let refusal = MailFailed("It refused the mail: ‘550 <no>’.", isPermanent: true)
            server.mailbox.refuse("boss@example.com", refusal)
            var browser = try await server.staff(.admin)
            browser.language = language
            _ = try await browser.open("/dashboard/doctor")
            #expect(server.mailbox.tries == 0, "looking sends nothing")
            let page = try await browser.press("/dashboard/doctor/alert-test")
            #expect(page.status == 200 && !page.text.contains("{{"))
            for words in [
                "hooks.example.com", "ops@example.com",
                language == "en" ? "It answered 404" : "応答は 404 です。",
                "‘550 &lt;no&gt;’",
                language == "en" ? "The test message was accepted." : "テストメッセージを受け付けました。",
            ] {
                #expect(page.text.contains(words), "\(words)")
            }
            #expect(!page.text.contains("services/secret"))
            #expect(server.mailbox.mails.map(\.recipient) == ["ops@example.com"])
            let log = try await browser.open("/dashboard/audit")
            #expect(log.text.contains(language == "en" ? "Sent test messages" : "アラームのテスト"))
        }
    }

    @Test("Only an admin sends test messages, and only with the token of a form")
    func triedByOthers() async throws {
        let checkUp = CheckUp([.init("all") { Self.findings }])
        try await TestServer.run(checkUp: checkUp, alerts: try Self.alerts()) { server in
            var support = try await server.staff(.support)
            let refused = try await support.press("/dashboard/doctor/alert-test")
            var admin = try await server.staff(.admin)
            let forged = try await admin.open("/dashboard/doctor/alert-test", form: [:])
            #expect(refused.status == 403 && forged.status == 403)
            #expect(server.mailbox.tries == 0 && server.receiver.arrivals.isEmpty)
        }
    }

    @Test("Without a channel, the page says how to set one")
    func noChannel() async throws {
        try await TestServer.run(checkUp: CheckUp([])) { server in
            var browser = try await server.staff(.admin)
            _ = try await browser.open("/dashboard/doctor")
            let page = try await browser.press("/dashboard/doctor/alert-test")
            #expect(page.text.contains("No channel is set."))
        }
    }
}
