import SandboxClock
import AppStoreAPI
import AppStoreConnector
import Foundation
import SandboxClock
import Stores
import StripeConnector
import Synchronization
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

/// Incidents of a server that the world's plan decides, not chance.
final class ServerIncidents: Sendable {
    private struct State {
        /// Original transaction ids of which nothing arrives.
        var unheard: Set<String> = []
        var isCutOffUntil: Int64 = .min
        var googlePlayRefusesUntil: Int64 = .min
        var clockDifference: Int64 = 0
        var clockIsBehindUntil: Int64 = .min
        var hasMissedSomething = false
        var lostToBackup = false
    }

    private let state = Mutex(State())

    // MARK: - The App Store

    func cutOff(_ originals: Set<String>, until instant: Int64) {
        state.withLock { state in
            (state.unheard, state.isCutOffUntil) = (originals, instant)
            state.hasMissedSomething = true
        }
    }

    /// Whether the App Store answers no question.
    func isCutOff(at instant: Int64) -> Bool {
        state.withLock { instant < $0.isCutOffUntil }
    }

    /// Whether a notification gets lost.
    func swallows(_ letter: SimulatedServer.Letter, at instant: Int64) -> Bool {
        guard case .notification(let payload) = letter, isCutOff(at: instant),
            let original = Forgery.originalTransactionID(ofNotification: payload)
        else { return false }
        return state.withLock { $0.unheard.contains(original) }
    }

    // MARK: - Google Play

    func refuseGooglePlay(until instant: Int64) {
        state.withLock { $0.googlePlayRefusesUntil = instant }
    }

    /// Returns `true` while Google Play refuses the server's service account.
    func isRefusedByGooglePlay(at instant: Int64) -> Bool {
        state.withLock { instant < $0.googlePlayRefusesUntil }
    }

    // MARK: - The clock

    func setClockBack(by difference: Int64, until instant: Int64) {
        state.withLock { state in
            (state.clockDifference, state.clockIsBehindUntil) = (difference, instant)
            state.hasMissedSomething = true
        }
    }

    func isClockBehind(at instant: Int64) -> Bool {
        state.withLock { instant < $0.clockIsBehindUntil }
    }

    /// The time on the server's clock.
    func clock(at instant: Int64) -> Int64 {
        state.withLock { instant < $0.clockIsBehindUntil ? instant - $0.clockDifference : instant }
    }

    // MARK: - What comes of them

    /// Whether something may have been missed that a pass over the stores has not brought since: the
    /// sandbox sends nothing a second time.
    var hasMissedSomething: Bool { state.withLock { $0.hasMissedSomething } }

    /// A pass over the stores has ended.
    func catchUp(at instant: Int64) {
        state.withLock { state in
            guard instant >= state.isCutOffUntil, instant >= state.clockIsBehindUntil else {
                return
            }
            state.hasMissedSomething = false
        }
    }

    /// Whether the server has not yet been asked to catch up with what a restored copy lacks.
    var isOlderThanAcknowledged: Bool {
        get { state.withLock { $0.lostToBackup } }
        set { state.withLock { $0.lostToBackup = newValue } }
    }

    /// A copy has taken the database's place.
    func beOlderThanAcknowledged() {
        state.withLock { ($0.lostToBackup, $0.hasMissedSomething) = (true, true) }
    }

    /// All is as it should be again.
    func heal() {
        state.withLock { ($0.isCutOffUntil, $0.clockIsBehindUntil) = (.min, .min) }
    }
}

extension SimulatedServer {
    /// Whether another system still serves the customers: the stores' messages go there.
    var isBeforeMove: Bool {
        guard let moved = parts.moved, let clock = stores.withLock({ $0?.clock }) else {
            return false
        }
        return clock.nowAtOnce < moved
    }

    /// Imports what the customers of another system bought.
    ///
    /// - Parameter lines: of a file, a customer of the App Store's each; one after the other, so that each
    ///   run of a world is the same.
    func bringIn(_ lines: [String]) async throws {
        _ = try await insist { tollgate, _ in
            for line in lines {
                var rest = [Array(line.utf8)][...]
                _ = try await tollgate.receiptImport(file: line).run(next: { rest.popFirst() })
            }
            return try await tollgate.stripeImport.run() != nil
        }
    }

    /// The device shows its legacy receipt to a server of the same database that has no key of the App
    /// Store Server API, so that what `verifyReceipt` says is all that it goes by.
    ///
    /// - Throws: `ServerDown`; the device shows it again another day.
    func post(
        receipt: String,
        answered answer: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        if isDown { throw ServerDown() }
        let isProduction = parts.environment == .production
        let client = AppStore.ReceiptClient(
            sharedSecret: "00000000000000000000000000000000",
            transport: { request in
                let asksProduction = request.url == AppStore.ReceiptClient.url(of: .production)
                let body =
                    asksProduction == isProduction
                    ? answer : "{\"status\":\(asksProduction ? 21007 : 21008)}"
                return AppStore.HTTPResponse(status: 200, body: Array(body.utf8))
            },
            sleep: { _ in }
        )
        _ = try await insist { [self] tollgate, _ in
            let other = try makeTollgate(tollgate.store, try met(), receipts: client) { [self] in
                randomBytes($0)
            }
            let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
            do {
                _ = try await other.appStore.receipts.receive(
                    receipt,
                    from: id,
                    mode: Claim.Mode(rawValue: mode) ?? .observed,
                    isTrusted: false
                )
            } catch let refusal as Refusal where refusal.status == 409 {
                // Somebody else's purchase: an answer, which the next comparison looks at.
            }
            return true
        }
        for original in Self.originals(inReceipt: answer) { note(original, shownBy: customer) }
    }

    private static func originals(inReceipt answer: String) -> Set<String> {
        let object = try? JSONSerialization.jsonObject(with: Data(answer.utf8))
        let members = object as? [String: Any]
        let receipt = members?["receipt"] as? [String: Any]
        let inApp = receipt?["in_app"] as? [[String: Any]]
        let latest = members?["latest_receipt_info"] as? [[String: Any]]
        // In the form of iOS 6 the receipt is itself the transaction.
        let entries = (inApp ?? []) + (latest ?? []) + [receipt ?? [:]]
        return Set(entries.compactMap { $0["original_transaction_id"] as? String })
    }
}
