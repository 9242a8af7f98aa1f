#if canImport(StoreKit)
    import StoreKit

    /// Whether this device may buy; a file of its own, since StoreKit and SwiftUI both have a `Transaction`.
    enum PaymentPermission {
        static var isGiven: Bool { AppStore.canMakePayments }
    }
#endif
