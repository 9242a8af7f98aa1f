import Foundation

/// A transaction that the server refuses for good.
///
/// It is finished and not sent again. What the App Store charged for it stays charged: show the
/// customer how to reach your support, which finds the transaction by its id.
public struct AppStoreRefusal: Hashable, Identifiable, Sendable {
    /// The transaction's id at the App Store.
    public let id: UInt64
    /// The App Store product's id.
    public let productID: String?
    /// The way in which the app got the transaction.
    public let mode: AppStoreSubmission.Mode
    /// The HTTP status of the refusal.
    public let status: Int
    /// The server's stable code: `owned_elsewhere`, `app_unknown`, `jws_signature` and others.
    public let code: String
    /// The server's sentence for developers, in English.
    public let message: String

    /// Whether nobody has to hear of it: StoreKit showed a purchase that belongs to another customer,
    /// such as a renewal after somebody else signed in on this device.
    var isQuiet: Bool { mode == .observed && code == "owned_elsewhere" }

    /// The same as an error, for whoever waits for the purchase.
    var error: BillingSDKError { .requestRefused(status: status, code: code, message: message) }
}

/// Tells refusals that no call returns; those of before the first listener wait for it.
final class RefusalReports: Sendable {
    typealias Listener = @Sendable (AppStoreRefusal) -> Void

    private let state = Locked<(listeners: [Listener], unheard: [AppStoreRefusal])>(([], []))

    func add(_ listener: @escaping Listener) {
        let unheard = state.withLock { state in
            state.listeners.append(listener)
            defer { state.unheard = [] }
            return state.unheard
        }
        for refusal in unheard { listener(refusal) }
    }

    func report(_ refusal: AppStoreRefusal) {
        let listeners = state.withLock { state in
            if state.listeners.isEmpty { state.unheard.append(refusal) }
            return state.listeners
        }
        for listener in listeners { listener(refusal) }
    }
}

extension BillingSDK {
    /// Calls `listener` once with each transaction that the server refuses for good and that no call
    /// of the app's returns, on no particular thread.
    ///
    /// The first listener also gets earlier refusals. A renewal of another customer's purchase
    /// is not reported. Purchases and restores report their refusals to their callers.
    public func onAppStoreRefusal(_ listener: @escaping @Sendable (AppStoreRefusal) -> Void) {
        client.refusals.add(listener)
    }
}
