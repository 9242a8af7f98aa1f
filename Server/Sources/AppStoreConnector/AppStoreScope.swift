internal import TollgateCore

/// What the App Store is asked about at once: one app, in one environment.
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
