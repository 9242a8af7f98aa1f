internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

/// The app that asks, where there are several.
public struct AskingApp: Sendable {
    public var app: Catalog.App
    /// A publishable key of the app, the one that was shown if any was: what is signed for a device is
    /// signed for the app that has this key.
    public var key: String
}

extension Tollgate {
    /// The app that asks by a publishable key, by a session that is for one app, or by both.
    ///
    /// `nil` where there is one app, and where a caller does not say which: it counts as the first.
    ///
    /// - Throws: refusals 401 `invalid_key`; 403 `app_mismatch` where a session for one app comes with
    ///   the key of another.
    public func askingApp(key: String?, _ session: CustomerSession?) throws -> AskingApp? {
        guard !configuration.appsOfKeys.isEmpty else { return nil }
        let apps = store.history.current
        guard let key else {
            guard let id = session?.app, let app = apps.app(id: id),
                let key = configuration.publishableKey(of: id)
            else { return nil }
            return AskingApp(app: app, key: key)
        }
        guard let id = configuration.appsOfKeys[key] else {
            throw Refusal(401, .invalidKey, "This publishable key is not one of this server's.")
        }
        if let other = session?.app, other != id {
            throw Refusal(
                403,
                "app_mismatch",
                "This customer session is for the app '\(other)', and the publishable key is of '\(id)'. Create the session for the app that asks, or for none."
            )
        }
        return apps.app(id: id).map { AskingApp(app: $0, key: key) }
    }
}

extension Configuration {
    /// The present publishable key of an app.
    func publishableKey(of app: String) -> String? {
        ([publishableKey] + formerPublishableKeys).first { appsOfKeys[$0] == app }
    }
}
