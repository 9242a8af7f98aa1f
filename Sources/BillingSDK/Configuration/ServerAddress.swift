import Foundation

/// Where the server is, found by the documented order.
struct ServerAddress: Hashable, Sendable {
    /// Without a trailing slash.
    let base: String

    static let infoPlistKey = "BillingSDKServerURL"
    static let environmentKey = "BILLING_SDK_SERVER_URL"
    static let local = "http://127.0.0.1:8080"

    /// The address for `configuration`; the two other sources are parameters, for tests.
    static func resolve(
        _ configuration: BillingSDK.Configuration,
        infoPlist: String?,
        environment: String?
    ) throws -> ServerAddress {
        let key = configuration.publishableKey
        guard key.hasPrefix("pk_") else {
            throw BillingSDKError.invalidConfiguration(
                "The publishable key must begin with pk_test_ or pk_live_. A secret key (sk_…) must "
                    + "never be in an app."
            )
        }
        let given = configuration.serverURL?.absoluteString ?? infoPlist ?? environment
        guard let given else {
            guard key.hasPrefix("pk_test_") else {
                throw BillingSDKError.invalidConfiguration(
                    "No server address: pass serverURL, or set \(infoPlistKey) in Info.plist. "
                        + "\(local) is only for pk_test_ keys."
                )
            }
            return ServerAddress(base: local)
        }
        guard let url = URLComponents(string: given), let scheme = url.scheme?.lowercased(),
            let host = url.host, !host.isEmpty, scheme == "https" || scheme == "http"
        else {
            throw BillingSDKError.invalidConfiguration(
                "The server address is no http or https URL: \(given)"
            )
        }
        guard url.query == nil, url.fragment == nil, url.user == nil else {
            throw BillingSDKError.invalidConfiguration(
                "The server address may have no query, fragment or user: \(given)"
            )
        }
        guard scheme == "https" || isLoopback(host) || key.hasPrefix("pk_test_") else {
            throw BillingSDKError.invalidConfiguration(
                "With a live key the server address must be https: \(given)"
            )
        }
        return ServerAddress(base: given.hasSuffix("/") ? String(given.dropLast()) : given)
    }

    /// The address for this process.
    static func resolve(_ configuration: BillingSDK.Configuration) throws -> ServerAddress {
        try resolve(
            configuration,
            infoPlist: Bundle.main.object(forInfoDictionaryKey: infoPlistKey) as? String,
            environment: ProcessInfo.processInfo.environment[environmentKey]
        )
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
    }

    /// The URL of a path of the API.
    func url(_ path: String) throws -> URL {
        guard let url = URL(string: base + path) else {
            throw BillingSDKError.invalidConfiguration("No URL can be made of \(base)\(path)")
        }
        return url
    }
}
