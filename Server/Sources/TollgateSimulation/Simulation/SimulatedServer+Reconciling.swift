import AppStoreConnector
import Foundation
import GooglePlayConnector
import SandboxClock
import Storage
import Stores
import StripeConnector
import Synchronization
import TollgateAssembly
import TollgateCore
import TollgateService

// Asking the stores for what no message told.
extension SimulatedServer {
    /// Asks the stores what was missed.
    ///
    /// - Parameter mustSucceed: whether a failure is a violation.
    /// - Returns: whether all answered to the end.
    func reconcile(mustSucceed: Bool) async -> Bool {
        guard !isDown else { return false }
        planting.unasked = []
        var isWhole = true
        do { try await reconcileWithAppStore() } catch {
            isWhole = false
            if mustSucceed { object("reconciling with the App Store fails: \(error)") }
        }
        await revive()
        do { _ = try await tollgate.stripe.reconcileIfDue() } catch {
            isWhole = false
            if mustSucceed { object("reconciling with Stripe fails: \(error)") }
        }
        await revive()
        if stores.withLock({ $0?.googlePlay != nil }) {
            do { try await reconcileWithGooglePlay() } catch {
                isWhole = false
                if mustSucceed { object("reconciling with Google Play fails: \(error)") }
            }
            await revive()
        }
        if isWhole, let clock = stores.withLock({ $0?.clock }) {
            incidents.catchUp(at: clock.nowAtOnce)
        }
        return isWhole
    }

    private struct NotDone: Error, CustomStringConvertible {
        var description: String { "the pass is not done" }
    }

    // MARK: - The App Store

    private func reconcileWithAppStore() async throws {
        guard isAsInProduction else {
            let report = try await tollgate.appStore.reconcile(in: parts.environment)
            if let report { judge(report) }
            return
        }
        let (tollgate, before) = (try tollgate, try await appStorePlace())
        guard await tollgate.appStore.reconcileIfDue() else { throw NotDone() }
        // Less than a quarter of an hour after a pass none is due, and the place is that of before.
        let place = try await appStorePlace()
        guard let place, place != before else { return }
        judge(place.report)
    }

    private func judge(_ report: AppStoreReconciliation.Report) {
        guard report.delivered > 0, !incidents.isOlderThanAcknowledged else { return }
        object("\(report.delivered) notifications were answered 200 and were not in the journal")
    }

    /// The App Store's cursor of the world's environment: the last pass and its report.
    private struct AppStorePlace: Decodable, Equatable {
        var report: AppStoreReconciliation.Report
        var finished: Int64?
    }

    private func appStorePlace() async throws -> AppStorePlace? {
        let name = "reconcile/app_store/\(parts.environment.rawValue)"
        guard let kept = try await tollgate.store.cursors.read(name) else { return nil }
        return try JSONDecoder().decode(AppStorePlace.self, from: Data(kept.body))
    }

    // MARK: - Google Play

    private func reconcileWithGooglePlay() async throws {
        guard isAsInProduction else {
            _ = try await tollgate.googlePlay.reconcile()
            return
        }
        // As every minute, until no round is under way.
        for _ in 0..<50 {
            guard try await tollgate.googlePlay.reconcileIfDue() else { throw NotDone() }
            guard try await isGooglePlayRoundUnderWay() else { return }
        }
        throw NotDone()
    }

    private func isGooglePlayRoundUnderWay() async throws -> Bool {
        let tollgate = try tollgate
        for name in tollgate.googlePlay.passes {
            guard let kept = try await tollgate.store.cursors.read(name) else { continue }
            let place = try JSONSerialization.jsonObject(with: Data(kept.body)) as? [String: Any]
            if place?["round"] != nil || place?["ordersAfter"] != nil { return true }
        }
        return false
    }
}
