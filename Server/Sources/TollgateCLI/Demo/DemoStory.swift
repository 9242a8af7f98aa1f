import CommandOutput
import BillingSDK
import Foundation
import Storage
import StorageSQLite
import StripeSimulator
import TollgateAPI
import TollgateCore
import TollgateService

/// The demo's story, told in the terminal.
///
/// Every step says what must be true after it.
struct DemoStory: Sendable {
    let world: DemoWorld
    let app: DemoApp
    /// Whether it is told in JSON when it is over, instead of line by line.
    let json: Bool

    /// - Returns: whether every step came true.
    func tell() async throws -> Bool {
        let checks = Checks(json: json)
        let user = "reader-\(UUID().uuidString.prefix(8).lowercased())"
        try await app.signIn(user)
        await checks.after("\(user) signs in")
        await checks.expect("nothing may be used yet") { try await !app.has("pro") }
        try await subscribe(checks)
        try await spend(checks)
        try await buyOnAndroid(checks)
        try await buyOnTheWeb(checks)
        return try await checks.end()
    }

    /// Plans of the App Store, until a refund.
    private func subscribe(_ checks: Checks) async throws {
        await checks.after("subscribes to the monthly plan on the iPhone, in the App Store")
        try await app.buy("com.example.app.pro.monthly")
        await checks.expect("pro may be used") { try await app.has("pro") }

        await checks.after("a month passes, the App Store renews")
        await app.wait(duration("P1M"))
        await checks.expect("pro may still be used") { try await app.has("pro") }
        await checks.expect("because it was paid for") {
            try await app.explain("pro").ground == .payment
        }

        await checks.after("cancels; the month that was paid for passes")
        try await app.cancel()
        await checks.expect("pro may be used until then") { try await app.has("pro") }
        await app.wait(duration("P1M1D"))
        await checks.expect("it has lapsed") { try await !app.has("pro") }
        await checks.expect("and explain says what would change that") {
            let explanation = try await app.explain("pro")
            return !explanation.entitled && !explanation.wouldChange.isEmpty
        }

        await checks.after("subscribes to the yearly plan, which credits 50 coins")
        try await app.buy("com.example.app.pro.yearly")
        await checks.expect("pro and archive may be used") {
            let pro = try await app.has("pro")
            let archive = try await app.has("archive")
            return pro && archive
        }
        await checks.expect("50 coins are there") { try await app.coins() == 50 }

        await checks.after("Apple refunds it")
        try await app.refund()
        await checks.expect("pro has ended at once") { try await !app.has("pro") }
        await checks.expect("the coins were taken back, once") { try await app.coins() == 0 }
    }

    /// Coins of the web and the App Store.
    private func spend(_ checks: Checks) async throws {
        await checks.after("buys 100 coins on the web, through the buy button")
        try await payAtCheckout("buy_coins_100")
        await checks.expect("100 coins are there") { try await app.coins() == 100 }

        await checks.after("spends 30, and the request is repeated")
        let key = UUID().uuidString
        await checks.expect("70 are left") { try await app.spend(30, key: key) == 70 }
        await checks.expect("the repetition spends nothing") {
            let balance = try await app.spend(30, key: key)
            let coins = try await app.coins()
            return balance == 70 && coins == 70
        }
        await checks.expect("more than there are cannot be spent") {
            do {
                _ = try await app.spend(100)
                return false
            } catch let error as APIError {
                return error.code == .insufficientCoins
            }
        }

        await checks.after("buys 100 coins in the App Store, and gets the money back")
        try await app.buy("com.example.app.coins100")
        await checks.expect("170 coins are there") { try await app.coins() == 170 }
        try await app.refund()
        await checks.expect("70 are left") { try await app.coins() == 70 }
    }

    /// The same customer's Android phone.
    private func buyOnAndroid(_ checks: Checks) async throws {
        await checks.after("buys 100 coins on an Android phone, in Google Play")
        try await buyInGooglePlay("coins_100")
        await checks.expect("170 coins are there") { try await app.coins() == 170 }

        await checks.after("subscribes there to the monthly plan")
        try await buyInGooglePlay("pro_monthly")
        await checks.expect("pro may be used, paid for in Google Play") {
            let explanation = try await app.explain("pro")
            let isAndroid = explanation.facts.contains { $0.decides && $0.store == .googlePlay }
            let hasPro = try await app.has("pro")
            return hasPro && isAndroid
        }
        await app.wait(duration("P1M2D"))
        await checks.expect("and after the renewal too") { try await app.has("pro") }

        await checks.after("Google refunds and revokes it")
        try await app.refundInGooglePlay()
        await checks.expect("pro has ended at once") { try await !app.has("pro") }
        await checks.expect("the coins are still there") { try await app.coins() == 170 }
    }

    private func buyInGooglePlay(_ id: String) async throws {
        guard let product = world.catalog.product(id: id) else {
            throw DemoApp.Refusal(description: "The catalog has no product ‘\(id)’.")
        }
        try await app.buyInGooglePlay(product)
    }

    private func buyOnTheWeb(_ checks: Checks) async throws {
        await checks.after("subscribes in the browser, on the web")
        try await payAtCheckout("buy_pro_monthly")
        await checks.expect("pro may be used") { try await app.has("pro") }
        await app.wait(duration("P1M2D"))
        await checks.expect("and after the renewal too") { try await app.has("pro") }

        await checks.expect("the portal opens") {
            let url = try await app.portal()
            return try await app.status(of: url) == 200
        }
        await app.signOut()
        await checks.expect("signed out, nothing may be used") { try await !app.has("pro") }
        await checks.expect("everything derived follows from the journal") {
            try await rebuilds()
        }
    }

    private func payAtCheckout(_ button: String) async throws {
        let url = try await app.checkout(button)
        let session = url.lastPathComponent
        _ = try await world.stripe.pay(checkoutSession: session, email: "reader@example.com")
    }

    private func rebuilds() async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tollgate-demo-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let scratch = try StorageSQLite(path: folder.appendingPathComponent("scratch.sqlite").path)
        let report = try await Rebuild(of: world.server.tollgate.store.driver, into: scratch)
            .verify()
        await scratch.close()
        return report.isIdentical
    }

    private func duration(_ text: String) -> CalendarDuration {
        guard let duration = CalendarDuration(iso8601: text) else {
            preconditionFailure("\(text) is no duration")
        }
        return duration
    }
}

/// What came true so far.
private actor Checks {
    private struct Check: Encodable {
        var after: String
        var expected: String
        var cameTrue = false
        var error: String?

        enum CodingKeys: String, CodingKey {
            case after, expected, error
            case cameTrue = "came_true"
        }
    }

    private struct Report: Encodable {
        var passed: Int
        var failed: Int
        var checks: [Check]
    }

    private let json: Bool
    private var step = ""
    private var checks: [Check] = []

    init(json: Bool) {
        self.json = json
    }

    /// What happens next.
    func after(_ step: String) {
        self.step = step
        if !json { Terminal.say(step) }
    }

    func expect(_ what: String, _ isTrue: @Sendable () async throws -> Bool) async {
        var check = Check(after: step, expected: what)
        do {
            check.cameTrue = try await isTrue()
        } catch {
            check.error = PlainWords.of(error)
        }
        checks.append(check)
        guard !json else { return }
        let reason = check.error.map { ": \($0)" } ?? ""
        let mark = check.cameTrue ? Terminal.coloured("✓", .green) : Terminal.coloured("✗", .red)
        Terminal.say("  \(mark) \(what)\(reason)")
    }

    /// Says how many came true.
    ///
    /// - Returns: whether all did.
    func end() throws -> Bool {
        let failed = checks.count { !$0.cameTrue }
        let passed = checks.count - failed
        if json {
            try Terminal.sayJSON(Report(passed: passed, failed: failed, checks: checks))
        } else {
            Terminal.say("\(passed) came true, \(failed) did not")
        }
        return failed == 0
    }
}
