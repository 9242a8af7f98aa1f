import Foundation
import Storage
import Stores
import StripeSimulator
import Testing
import TollgateAPI
import TollgateCore
import TollgateServer
import TollgateService

/// A shop that emails its customers, over a mail server that the test plays.
struct LetterDesk: Sendable {
    let shop: Shop
    let mailbox = Mailbox()
    /// Real time.
    let wall = TestClock(Shop.start)
    let templates: LetterTemplates
    var settings: LetterSettings

    init(_ shop: Shop, kinds: [Letter.Kind] = Letter.Kind.allCases) throws {
        self.shop = shop
        templates = try LetterTemplates()
        settings = LetterSettings(
            server: MailServer(host: "localhost", port: 25, security: .none),
            sender: "billing@example.com",
            kinds: Set(kinds)
        )
        settings.senderName = "Example"
        settings.includesSandbox = true
    }

    /// Begins: what was before is no news.
    static func open(_ shop: Shop) async throws -> LetterDesk {
        let desk = try LetterDesk(shop)
        #expect(try await desk.work())
        return desk
    }

    /// Publishes events, then queues and sends letters.
    ///
    /// - Parameter transport: in place of the mail server.
    func work(over transport: MailTransport? = nil) async throws -> Bool {
        let tollgate = shop.server.tollgate
        await tollgate.events.publish()
        let (mailbox, templates, wall) = (mailbox, templates, wall)
        var letters = tollgate.letters(
            LetterSetUp(settings: settings) { templates.text(of: $0, in: $1) },
            over: transport ?? { mail, _ in try await mailbox.take(mail) }
        )
        letters.clocks.wall = { wall.now }
        return await letters.work()
    }

    /// A customer with an address, `ann@example.com` for `ann`.
    func customer(_ name: String, language: String? = nil) async throws -> String {
        let metadata = language.map { ",\"metadata\":{\"language\":\"\($0)\"}" } ?? ""
        let answer = try await shop.server.post(
            "/v1/customers",
            "{\"app_user_id\":\"\(name)\",\"email\":\"\(name)@example.com\"\(metadata)}"
        )
        return try #require(answer.json["id"].string)
    }

    /// Begins a trial of so many days of the monthly plan.
    func tryOut(_ customer: String, days: Int) async throws {
        // A first visit to Checkout makes the customer at Stripe.
        _ = try await shop.server.post(
            "/v1/checkout_sessions",
            "{\"customer\":\"\(customer)\",\"product\":\"coins_100\"}"
        )
        let payer = try await shop.stripeCustomer(of: customer)
        try await shop.stripe.setDefaultCard("4242424242424242", customer: payer)
        _ = try await shop.call(
            "POST",
            "/v1/subscriptions",
            "customer=\(payer)&items[0][price]=price_pro_monthly&trial_period_days=\(days)"
        )
        await shop.stripe.settle()
        await shop.server.tollgate.fetchWanted()
    }

    /// The outbox, newest first.
    func outbox() async throws -> [LetterRow] {
        try await shop.server.tollgate.store.letters.page(limit: 100)
    }

    /// The letters that were delivered, as their readers see them.
    var delivered: [ReadLetter] { mailbox.mails.map { ReadLetter($0) } }
}

/// A letter as a mail program reads it.
struct ReadLetter: Sendable {
    let recipient: String
    /// The header.
    let header: String
    /// The plain text.
    let text: String
    /// The text in HTML.
    let html: String

    init(_ mail: Mail) {
        let whole = String(decoding: mail.bytes, as: UTF8.self)
        let mark = "Content-Transfer-Encoding: base64\r\n\r\n"
        let parts = whole.components(separatedBy: mark)
        let bodies = parts.dropFirst().map { part in
            let body = part.components(separatedBy: "\r\n--").first ?? ""
            let bytes = Data(base64Encoded: body, options: .ignoreUnknownCharacters) ?? Data()
            return String(decoding: bytes, as: UTF8.self)
        }
        recipient = mail.recipient
        header = parts[0]
        text = bodies.first ?? ""
        html = bodies.last ?? ""
    }

    /// The path and query of the link that unsubscribes, as the header has it.
    var unsubscribe: String? {
        let lines = header.components(separatedBy: "\r\n")
        guard let line = lines.first(where: { $0.hasPrefix("List-Unsubscribe: <") }) else {
            return nil
        }
        let link = line.dropFirst("List-Unsubscribe: <".count).dropLast()
        return String(link).replacing(TestServer.publicURL, with: "")
    }

    var messageID: String? {
        header.components(separatedBy: "\r\n").first { $0.hasPrefix("Message-ID: ") }
    }
}
