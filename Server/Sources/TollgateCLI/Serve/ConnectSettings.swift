import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import TollgateCore

/// How the reports of App Store Connect are fetched, from `TOLLGATE_CONNECT_…`.
struct ConnectSettings: Sendable {
    private var key: AppStore.APIKey?
    private var vendorNumber: String?
    private var baseURL: String?

    /// They are not fetched.
    static let absent = ConnectSettings(key: nil, vendorNumber: nil, baseURL: nil)

    private init(key: AppStore.APIKey?, vendorNumber: String?, baseURL: String?) {
        (self.key, self.vendorNumber, self.baseURL) = (key, vendorNumber, baseURL)
    }

    /// - Throws: a usage error where it is half set up.
    init() throws {
        key = try StoreSettings.key("CONNECT")
        vendorNumber = Settings.text(nil, "CONNECT_VENDOR_NUMBER")
        baseURL = Settings.text(nil, "CONNECT_BASE_URL")
        if key != nil, vendorNumber == nil {
            throw ValidationError(
                "Reports need TOLLGATE_CONNECT_VENDOR_NUMBER, as App Store Connect shows it beside them."
            )
        }
    }

    /// Nil where there is no key.
    func client(over client: HTTPClient) -> AppStore.ConnectClient? {
        guard let key, let vendorNumber else { return nil }
        return AppStore.ConnectClient(
            key: key,
            vendorNumber: vendorNumber,
            host: baseURL ?? AppStore.ConnectClient.host,
            transport: appStoreTransport(over: client),
            now: { SystemClock.now().milliseconds }
        )
    }
}
