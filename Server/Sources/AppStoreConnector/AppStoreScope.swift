internal import TollgateCore

/// One app in one environment: the App Store answers each request about one such pair.
struct AppStoreScope: Hashable, Sendable {
    var environment: StoreEnvironment
    /// The app's bundle id.
    var application: String

    init(_ environment: StoreEnvironment, _ application: String) {
        (self.environment, self.application) = (environment, application)
    }

    init(_ key: Purchase.Key) {
        self.init(key.environment, key.application)
    }
}
