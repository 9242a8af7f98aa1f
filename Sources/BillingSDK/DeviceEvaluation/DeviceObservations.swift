import Foundation
internal import TollgateAPI
internal import TollgateCore

/// When the server was last told what StoreKit holds although it says no.
final class DeviceObservations: Sendable {
    private struct Last: Codable {
        var customer: String
        var at: Date
    }

    private let storage: OfflineStorage
    /// The last comparison; each waits for the one before.
    let task = Locked<Task<Void, Never>?>(nil)

    init(storage: OfflineStorage) { self.storage = storage }

    /// Whether a day has gone by since this customer's device told something, this process or another.
    func isDue(_ customer: String, at now: Date) -> Bool {
        let last = storage.value(Last.self, of: .observation)
        guard let last, last.customer == customer else { return true }
        let age = now.timeIntervalSince(last.at)
        return age < 0 || age >= 86_400
    }

    func told(_ customer: String, at now: Date) {
        storage.keep(Last(customer: customer, at: now), as: .observation)
    }

    /// Leaves nothing of who signed out.
    func forget() { storage.save(.observation, nil) }
}

/// Compares answers with what StoreKit holds.
struct DeviceComparison: Sendable {
    let client: BillingClient

    /// Compares an answer with what StoreKit holds, beside whoever asked.
    ///
    /// Where the device has verified what the answer lacks, the server is told, at most once a day:
    /// it takes it in, or shows its people why it does not.
    func observe(_ list: API.EntitlementList, of customer: String) {
        guard let slice = client.offline.catalog(at: client.now()) else { return }
        client.observations.task.withLock { task in
            let before = task
            task = Task {
                await before?.value
                guard client.observations.isDue(customer, at: client.now()) else { return }
                await self.tell(list, of: customer, slice)
            }
        }
    }

    /// The most that the server takes at once.
    private static let mostTransactions = 10
    private static let mostKeys = 20

    private func tell(
        _ list: API.EntitlementList,
        of customer: String,
        _ slice: API.SignedCatalog
    ) async {
        let statements = await client.storeKitStatements()
        let signed = statements.compactMap(\.signedTransaction)
        let instant = Int64(0).advanced(byWholeMilliseconds: client.now().timeIntervalSince1970)
        let held = DeviceEvaluation.active(
            statements,
            in: slice,
            at: Instant(milliseconds: instant)
        ).map(\.lookupKey)
        let denied = Set(held).subtracting(list.data.map(\.lookupKey)).sorted()
        guard !signed.isEmpty, !denied.isEmpty else { return }
        let observation = API.AppStoreObservation(
            signedTransactions: Array(signed.prefix(Self.mostTransactions)),
            lookupKeys: Array(denied.prefix(Self.mostKeys))
        )
        do {
            let reply = try await client.customerCall(API.AppStoreObservationReply.self) {
                session in
                guard session.customer == customer else { throw BillingSDKError.unauthenticated }
                return try client.request(
                    "POST",
                    APIPath.appStoreObservations.path,
                    key: session.clientSecret,
                    body: observation
                )
            }
            client.observations.told(customer, at: client.now())
            if !reply.entitled.isEmpty {
                _ = try? await client.activeEntitlements(forceRefresh: true)
            }
        } catch BillingSDKError.networkUnavailable, BillingSDKError.customerSessionProviderFailed,
            BillingSDKError.unauthenticated, BillingSDKError.interrupted
        {
            // The server has not heard it: the next answer is compared again.
        } catch {
            client.observations.told(customer, at: client.now())
        }
    }
}
