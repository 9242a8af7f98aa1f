// SPDX-License-Identifier: Apache-2.0
import Foundation
import GooglePlayConnector
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// Alarms of a whole server, told to a chat that the test plays.
@Suite("Alarms")
struct AlertTests {
    private static let chat = "https://hooks.example.com/services/secret"
    private static let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()

    private static func alerts(
        _ server: TestServer,
        checkUp: CheckUp = CheckUp([]),
        _ adjust: (inout AlertBounds) -> Void = { _ in }
    ) throws -> Alerts {
        var bounds = AlertBounds()
        adjust(&bounds)
        let webhook = try AlertWebhook(url: chat, secret: secret, allowsPrivate: false)
        return server.tollgate.alerts(
            AlertSettings(bounds: bounds, webhook: webhook),
            on: AlertMachine(checkUp: checkUp, disk: { nil }, endings: [])
        )
    }

    private static func parked(_ server: TestServer) -> ParkedMessage {
        ParkedMessage(
            key: RowKey("parked", "alarm"),
            store: .stripe,
            source: "evt_1",
            reason: "unreadable",
            body: Array("{}".utf8),
            received: server.wall.now
        )
    }

    /// What the chat was told, each message without its first line.
    private static func told(_ server: TestServer) -> [String] {
        server.receiver.taken.filter { $0.url == chat }.map { arrival in
            let lines = (arrival.json["text"].string ?? "").split(separator: "\n")
            return lines.dropFirst().joined(separator: "\n")
        }
    }

    @Test(
        "Several servers tell an alarm once, once more after a day, and once when it is over",
        arguments: Backend.allCases
    )
    func once(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            // Each is what another process would have.
            let (one, other) = (try Self.alerts(server), try Self.alerts(server))
            #expect(await one.watch())
            #expect(Self.told(server) == [])
            let message = Self.parked(server)
            try await server.tollgate.store.parked.park(message)
            for alerts in [one, other, one] { #expect(await alerts.watch()) }
            let alarm = "Genuine messages of Stripe could not be used: 1."
            #expect(Self.told(server).count == 1)
            #expect(Self.told(server).first?.hasPrefix("ALARM: \(alarm) → ") == true)
            let arrival = try #require(server.receiver.arrivals.first)
            #expect(arrival.isSigned(with: Self.secret))
            #expect(
                arrival.json["text"].string?.hasPrefix("Tollgate at \(TestServer.publicURL)\n")
                    == true
            )
            server.wall.advance(seconds: 86_400)
            for alerts in [other, one] { #expect(await alerts.watch()) }
            #expect(Self.told(server).count == 2)
            #expect(Self.told(server).last?.hasPrefix("STILL, since ") == true)
            try await server.tollgate.store.parked.unpark(message)
            #expect(await one.watch())
            server.wall.advance(seconds: 600)
            for alerts in [one, other] { #expect(await alerts.watch()) }
            #expect(Self.told(server).count == 3)
            #expect(Self.told(server).last?.hasSuffix(": \(alarm)") == true)
            #expect(Self.told(server).last?.hasPrefix("ALL CLEAR, after ") == true)
        }
    }

    @Test("What the chat did not take is told again", arguments: [429, 500])
    func again(_ status: Int) async throws {
        try await TestServer.run { server in
            let alerts = try Self.alerts(server)
            try await server.tollgate.store.parked.park(Self.parked(server))
            server.receiver.answer { _ in WebhookResponse(status: status) }
            let isTold = await alerts.watch()
            #expect(!isTold)
            #expect(server.receiver.arrivals.count == 1 && Self.told(server) == [])
            server.receiver.answer { _ in WebhookResponse(status: 200) }
            #expect(await alerts.watch())
            #expect(await alerts.watch())
            #expect(Self.told(server).count == 1)
        }
    }

    @Test("A message whose words the chat refuses is told in numbers, and holds up no other one")
    func inNumbers() async throws {
        try await TestServer.run { server in
            let alerts = try Self.alerts(server)
            try await server.tollgate.store.parked.park(Self.parked(server))
            server.receiver.answer { arrival in
                let isRefused = arrival.json["text"].string?.contains("ALARM") ?? false
                return WebhookResponse(status: isRefused ? 400 : 200)
            }
            for _ in 0..<2 { #expect(await alerts.watch()) }
            #expect(
                Self.told(server) == [
                    "This chat refused a message. The server's log has it. New alarms: 1, reminders: 0, all-clears: 0."
                ]
            )
            #expect(server.receiver.arrivals.count == 2)
            #expect(Set(server.receiver.arrivals.map(\.id)).count == 2)
        }
    }

    @Test("What did not fit into a message is told by the next ones, each alarm once")
    func parts() async throws {
        try await TestServer.run { server in
            let words = String(repeating: "x", count: 900)
            let checkUp = CheckUp([
                .init("many") {
                    (0..<8).map { Finding.failed("check.\($0)", "\($0) \(words)", "Mend it.") }
                }
            ])
            let alerts = try Self.alerts(server, checkUp: checkUp)
            #expect(await alerts.watch())
            server.wall.advance(seconds: 600)
            for _ in 0..<5 { #expect(await alerts.watch()) }
            let lines = Self.told(server).flatMap { $0.split(separator: "\n") }
            #expect(
                lines.filter { $0.hasPrefix("ALARM") }.map { String($0.prefix(8)) }
                    == (0..<8).map { "ALARM: \($0)" }
            )
            #expect(Self.told(server).count == 3)
        }
    }

    @Test("A store that refuses its key is an alarm when it has done so twice")
    func refusedKey() async throws {
        try await TestServer.run { server in
            let checkUp = CheckUp([
                .init("stripe") { [.failed("stripe.key", "It is refused", "Copy the key.")] }
            ])
            let alerts = try Self.alerts(server, checkUp: checkUp)
            #expect(await alerts.watch())
            #expect(Self.told(server) == [])
            server.wall.advance(seconds: 600)
            #expect(await alerts.watch())
            #expect(Self.told(server) == ["ALARM: It is refused. → Copy the key."])
        }
    }

    @Test("A store that sends no message is an alarm, one that sends is none")
    func silence() async throws {
        try await TestServer.run { server in
            let alerts = try Self.alerts(server) { $0.silence = 3_600_000 }
            #expect(await alerts.watch())
            server.wall.advance(seconds: 3_000)
            _ = try await server.customerWithCoins()
            #expect(await alerts.watch())
            #expect(Self.told(server) == [])
            server.wall.advance(seconds: 600)
            #expect(await alerts.watch())
            let said = Self.told(server).joined()
            #expect(said.contains("Stripe has sent no message since 2026-06-01T00:00:00Z."))
            #expect(!said.contains("App Store") && !said.contains("Google"))
        }
    }

    @Test("What was refused is no sign of a store's life")
    func forged() async throws {
        try await TestServer.run { server in
            let answer = try await server.post("/webhooks/stripe", as: nil, "{}")
            #expect(answer.status == 400)
            #expect(server.tollgate.context.heard.all.isEmpty)
        }
    }

    @Test("A replay, or a message of the other environment, is no sign of a store's life")
    func replayed() async throws {
        try await ProductionStore.run(on: .sqlite) { world in
            let heard = world.tollgate.context.heard
            _ = try await world.buyInSandbox()
            try await world.deliver()
            #expect(heard.all[.appStore] == nil)
            _ = try await world.buy("com.example.app.plain")
            try await world.deliver()
            let first = try #require(heard.all[.appStore])
            world.wall.advance(seconds: 3_600)
            try await world.deliver()
            #expect(heard.all[.appStore] == first)
        }
    }

    @Test(
        "Google Play is heard of however its hints come",
        arguments: [PlayWorld.Hints.pushed, .pulled]
    )
    func hints(_ hints: PlayWorld.Hints) async throws {
        try await PlayWorld.run(hints: hints) { world in
            let (_, account) = try await world.person()
            let before = world.server.wall.now
            #expect(world.server.tollgate.context.heard.all[.googlePlay] == nil)
            _ = try await world.buy("pro", for: account)
            try await world.settle()
            let heard = try #require(world.server.tollgate.context.heard.all[.googlePlay])
            #expect((before...world.server.wall.now).contains(heard))
        }
    }

    @Test("What waits in Google Play for a customer has a deadline of three days, and is no alarm")
    func unclaimed() async throws {
        try await PlayWorld.run { world in
            let (_, account) = try await world.person(named: false)
            _ = try await world.buy("coins100", for: account)
            try await world.settle()
            let deadlines = try await world.server.tollgate.googlePlay.deadlines()
            // https://developer.android.com/google/play/billing/integrate#process
            #expect(deadlines.map(\.act) == ["consume"])
            #expect(deadlines.map(\.time) == [3 * 86_400_000])
            #expect(deadlines.map(\.waitsForCustomer) == [true])
            await world.wait(days: 2.9)
            let alerts = try Self.alerts(world.server)
            #expect(await alerts.watch())
            #expect(!Self.told(world.server).joined().contains("consume"))
        }
    }

    @Test("An endpoint that was given up is an alarm with its host alone; one switched off is none")
    func endpoints() async throws {
        try await TestServer.run { server in
            await WebhookDeliveryTests.deliver(server)
            let endpoint = try await WebhookDeliveryTests.endpoint(server)
            server.receiver.answer { WebhookResponse(status: $0.url == Self.chat ? 200 : 410) }
            _ = try await server.customerWithCoins()
            await WebhookDeliveryTests.deliver(server)
            let alerts = try Self.alerts(server)
            #expect(await alerts.watch())
            let said = try #require(Self.told(server).first)
            #expect(
                said.hasPrefix(
                    "ALARM: The webhook endpoint \(endpoint.id) (backend.example.org) was disabled: "
                        + "the endpoint answered 410 Gone."
                )
            )
            #expect(!said.contains("/hooks"))
            // Its owner gives it up, too: by hand, after it was enabled.
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            for enabled in [true, false] {
                let answer = try await server.post(path, "{\"enabled\":\(enabled)}")
                #expect(answer.status == 200)
            }
            #expect(await alerts.watch())
            server.wall.advance(seconds: 600)
            #expect(await alerts.watch())
            #expect(Self.told(server).last?.hasPrefix("ALL CLEAR") == true)
        }
    }

    // MARK: - Mail and quiet hours

    private static let (ops, boss) = ("ops@example.com", "boss@example.com")

    private static func mailing(
        _ server: TestServer,
        _ quietHours: QuietHours? = nil
    ) -> Alerts {
        server.tollgate.alerts(
            AlertSettings(bounds: AlertBounds(), email: email, quietHours: quietHours),
            on: AlertMachine(checkUp: CheckUp([]), disk: { nil }, endings: [])
        )
    }

    static let email = AlertEmail(
        server: MailServer(host: "smtp.example.com", port: 587, security: .startTLS),
        sender: "tollgate@example.com",
        recipients: [ops, boss]
    )

    @Test("Each recipient gets a mail of an alarm once")
    func mailed() async throws {
        try await TestServer.run { server in
            let alerts = Self.mailing(server)
            try await server.tollgate.store.parked.park(Self.parked(server))
            for _ in 0..<2 { #expect(await alerts.watch()) }
            let mails = server.mailbox.mails
            #expect(mails.map(\.recipient) == [Self.ops, Self.boss])
            #expect(mails.map(\.sender) == ["tollgate@example.com", "tollgate@example.com"])
        }
    }

    @Test("A mail that is refused for good is logged, and holds up neither others nor later alarms")
    func permanent() async throws {
        try await TestServer.run { server in
            let alerts = Self.mailing(server)
            server.mailbox.refuse(Self.ops, MailFailed("550 no such mailbox", isPermanent: true))
            try await server.tollgate.store.parked.park(Self.parked(server))
            for _ in 0..<3 { #expect(await alerts.watch()) }
            #expect(server.mailbox.mails.map(\.recipient) == [Self.boss])
            #expect(server.mailbox.tries == 2, "it is not sent again at each look")
            server.mailbox.refuse(Self.ops, nil)
            server.wall.advance(seconds: 3_600)
            for _ in 0..<2 { #expect(await alerts.watch()) }
            #expect(server.mailbox.mails.map(\.recipient) == [Self.boss, Self.ops])
        }
    }

    @Test("A mail server that takes its time holds up no chat")
    func slow() async throws {
        try await TestServer.run { server in
            let webhook = try AlertWebhook(url: Self.chat, secret: nil, allowsPrivate: false)
            let alerts = server.tollgate.alerts(
                AlertSettings(bounds: AlertBounds(), webhook: webhook, email: Self.email),
                on: AlertMachine(checkUp: CheckUp([]), disk: { nil }, endings: [])
            )
            // It answers once the chat was told: in turn, both might wait for ever.
            server.mailbox.hold(Self.ops) {
                while Self.told(server).isEmpty { await Task.yield() }
            }
            try await server.tollgate.store.parked.park(Self.parked(server))
            #expect(await alerts.watch())
            #expect(server.mailbox.mails.map(\.recipient) == [Self.ops, Self.boss])
        }
    }

    @Test("A mail that did not arrive is sent again, to its recipient alone")
    func temporary() async throws {
        try await TestServer.run { server in
            let alerts = Self.mailing(server)
            server.mailbox.refuse(Self.ops, MailFailed("451 later"))
            try await server.tollgate.store.parked.park(Self.parked(server))
            let isTold = await alerts.watch()
            #expect(!isTold && server.mailbox.mails.map(\.recipient) == [Self.boss])
            server.mailbox.refuse(Self.ops, nil)
            for _ in 0..<2 { #expect(await alerts.watch()) }
            #expect(server.mailbox.mails.map(\.recipient) == [Self.boss, Self.ops])
        }
    }

    @Test("In quiet hours urgent alarms are mailed, and others when they end")
    func quiet() async throws {
        let checkUp = CheckUp([
            .init("all") {
                [
                    .failed("backups", "They are old.", "Look."),
                    .failed("stripe.key", "It is refused.", "Copy the key."),
                ]
            }
        ])
        try await TestServer.run { server in
            // The clock begins at midnight in UTC.
            let hours = try #require(QuietHours(from: "22:00", to: "07:00", zone: "UTC"))
            let alerts = server.tollgate.alerts(
                AlertSettings(bounds: AlertBounds(), email: Self.email, quietHours: hours),
                on: AlertMachine(checkUp: checkUp, disk: { nil }, endings: [])
            )
            #expect(await alerts.watch())
            server.wall.advance(seconds: 600)
            for _ in 0..<2 { #expect(await alerts.watch()) }
            #expect(
                server.mailbox.mails.map { Self.text($0) }.map { $0.contains("They are old.") } == [
                    false, false,
                ]
            )
            server.wall.advance(seconds: 7 * 3_600 - 600)
            for _ in 0..<2 { #expect(await alerts.watch()) }
            let mails = server.mailbox.mails.map { Self.text($0) }
            #expect(
                mails.count == 4
                    && mails.suffix(2).allSatisfy { $0.contains("ALARM: They are old.") }
            )
        }
    }

    private static func text(_ mail: Mail) -> String {
        let parts = String(decoding: mail.bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")
        let body = Data(base64Encoded: parts[1], options: .ignoreUnknownCharacters) ?? Data()
        return String(decoding: body, as: UTF8.self)
    }
}
