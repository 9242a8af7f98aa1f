public import GooglePlayAPI
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// The configured connections to Google Play.
public struct GooglePlaySetUp: Sendable {
    /// The apps whose purchases are read; empty where no service account is configured.
    public var apps: [App] = []
    /// Judges the tokens of pushes; `nil`: pushes are refused.
    public var pushTokens: GooglePlay.PushTokens?
    /// Pulls hints; `nil` where none is configured, or where hints are pushed.
    public var pulls: GooglePlay.PubSubClient?
    /// The bucket in which the Play Console puts its reports; `nil`: none are fetched.
    public var bucket: GooglePlay.StorageClient?
    /// Queries per minute that Google allows for each kind of call.
    public var quotas = PlayQuotas.Limits()
    /// The number of reads at the same time; they share commits.
    public var readsAtOnce = 25

    public init() {}

    public init(
        apps: [App],
        pushTokens: GooglePlay.PushTokens? = nil,
        pulls: GooglePlay.PubSubClient? = nil
    ) {
        self.apps = apps
        self.pushTokens = pushTokens
        self.pulls = pulls
    }

    /// One app: its package and the client that asks about it.
    public struct App: Sendable {
        public var client: GooglePlay.Client
        /// Checks what the app signs; `nil` where its licence key is not configured.
        public var licenseKey: LicenseKey?

        /// `com.example.app`.
        public var packageName: String { client.packageName }

        public init(client: GooglePlay.Client, licenseKey: LicenseKey? = nil) {
            self.client = client
            self.licenseKey = licenseKey
        }
    }

    /// The app with this package; the first one where none is named.
    ///
    /// - Throws: refusals 404 `app_unknown`, 503 `store_unavailable` where Google Play is not configured.
    func requireApp(_ packageName: String?) throws -> App {
        guard let first = apps.first else {
            throw Refusal(
                503,
                .storeUnavailable,
                "Google Play is not configured: set TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE and TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME."
            )
        }
        guard let packageName else { return first }
        guard let app = app(packageName) else {
            throw Refusal(
                404,
                "app_unknown",
                "No app with the package '\(packageName.prefix(80))' is configured.",
                param: "package_name"
            )
        }
        return app
    }

    /// The app with this package; `nil` for one that is not configured.
    func app(_ packageName: String) -> App? {
        apps.first { $0.packageName == packageName }
    }
}
