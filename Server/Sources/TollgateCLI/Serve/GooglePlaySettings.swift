import ArgumentParser
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import NIOCore
import TollgateCore

/// The settings of Google Play, from `TOLLGATE_GOOGLE_PLAY_…`.
struct GooglePlaySettings: Sendable {
    /// The key file's bytes; `nil`: Google Play is not set up.
    private var serviceAccount: [UInt8]?
    private var packageNames: [String] = []
    /// `projects/P/subscriptions/S`.
    private var subscription: String?
    private var push: (audience: String, email: String)?
    private var licenseKeys: [String: LicenseKey] = [:]
    private var apiBase: String?
    private var pubSubBase: String?
    private var certificatesURL: String?
    private var bucket: String?

    /// `true` where purchases can be read.
    var isSetUp: Bool { serviceAccount != nil }

    /// Google Play is not set up.
    static let absent = GooglePlaySettings(())

    private init(_: Void) {}

    /// - Parameter apps: those that the catalog lists.
    /// - Throws: `WrongSettings` where it is half set up or cannot be read.
    init(_ apps: [Catalog.App]) throws {
        var problems = SettingProblems()
        let path = Settings.text(nil, "GOOGLE_PLAY_SERVICE_ACCOUNT_FILE")
        serviceAccount = path.flatMap { path in problems.take { try Self.file(path) } }
        packageNames = problems.take { try Self.packageNames(apps) } ?? []
        subscription = Settings.text(nil, "GOOGLE_PLAY_SUBSCRIPTION")
        push = problems.take { try Self.push() } ?? nil
        licenseKeys = problems.take { try Self.licenseKeys(packageNames) } ?? [:]
        apiBase = Settings.text(nil, "GOOGLE_PLAY_API_BASE")
        pubSubBase = Settings.text(nil, "GOOGLE_PLAY_PUBSUB_BASE") ?? apiBase
        certificatesURL = Settings.text(nil, "GOOGLE_PLAY_CERTS_URL")
        bucket = problems.take { try Self.bucket() } ?? nil
        if path != nil, packageNames.isEmpty {
            problems.add([
                "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE needs TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME beside it, or ‘package_name’ of an app in the catalog: as the Play Console shows it."
            ])
        }
        let isNamed = Settings.text(nil, "GOOGLE_PLAY_PACKAGE_NAME") != nil
        if path == nil, isNamed || subscription != nil || push != nil || bucket != nil {
            problems.add([
                "Google Play needs TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE: the key of a service account, as JSON, from Google Cloud, IAM and admin, Service accounts, Keys."
            ])
        }
        let parts = subscription?.split(separator: "/").map(String.init) ?? []
        if let subscription,
            parts.count != 4 || parts[0] != "projects" || parts[2] != "subscriptions"
        {
            problems.add([
                "TOLLGATE_GOOGLE_PLAY_SUBSCRIPTION: '\(subscription)' is not of the form projects/PROJECT/subscriptions/NAME."
            ])
        }
        try problems.throwIfAny()
    }

    /// The packages: those of the catalog's apps, else those that the settings name.
    private static func packageNames(_ apps: [Catalog.App]) throws -> [String] {
        let listed = apps.compactMap(\.packageName)
        let named = Settings.list("GOOGLE_PLAY_PACKAGE_NAME")
        guard !listed.isEmpty, !named.isEmpty else { return listed + named }
        throw ValidationError(
            "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME is set, and the catalog lists ‘package_name’ of its ‘apps’. Unset it."
        )
    }

    private static func file(_ path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw CheckFailed(
                message:
                    "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE: \(path) cannot be read: \(PlainWords.of(error))"
            )
        }
    }

    private static func push() throws -> (audience: String, email: String)? {
        let audience = Settings.text(nil, "GOOGLE_PLAY_PUSH_AUDIENCE")
        let email = Settings.text(nil, "GOOGLE_PLAY_PUSH_EMAIL")
        if audience == nil, email == nil { return nil }
        guard let audience, let email else {
            throw ValidationError(
                "Pushes need both TOLLGATE_GOOGLE_PLAY_PUSH_AUDIENCE and TOLLGATE_GOOGLE_PLAY_PUSH_EMAIL: anybody may have a token made for any audience, only the email shows whose it is."
            )
        }
        return (audience, email)
    }

    /// The bucket's name, of the address that the Play Console shows: `gs://pubsite_prod_rev_…/sales/`.
    private static func bucket() throws -> String? {
        guard let text = Settings.text(nil, "GOOGLE_PLAY_BUCKET") else { return nil }
        let plain = text.hasPrefix("gs://") ? text.dropFirst(5) : text[...]
        let name = String(plain.prefix { $0 != "/" })
        let isName = name.utf8.allSatisfy {
            (97...122).contains($0) || (48...57).contains($0) || [45, 46, 95].contains($0)
        }
        guard isName, (3...222).contains(name.utf8.count) else {
            throw ValidationError(
                "TOLLGATE_GOOGLE_PLAY_BUCKET: '\(text)' is no bucket: copy the Cloud Storage URI from the Play Console, Download reports, Financial. It begins with gs://pubsite_prod."
            )
        }
        return name
    }

    /// One key, or with several apps `PACKAGE:KEY,…`.
    private static func licenseKeys(_ packages: [String]) throws -> [String: LicenseKey] {
        var keys: [String: LicenseKey] = [:]
        for entry in Settings.list("GOOGLE_PLAY_LICENSE_KEY") {
            let colon = entry.firstIndex(of: ":")
            let package = colon.map { String(entry[..<$0]) } ?? packages.first ?? ""
            let text = colon.map { String(entry[entry.index(after: $0)...]) } ?? entry
            guard let key = LicenseKey(base64: text) else {
                throw ValidationError(
                    "TOLLGATE_GOOGLE_PLAY_LICENSE_KEY: '\(text.prefix(12))…' is no RSA key in base64: copy it from the Play Console, Monetisation setup, Licensing."
                )
            }
            keys[package] = key
        }
        return keys
    }

    /// Makes the connections to Google Play.
    ///
    /// - Throws: a usage error for a key file that is none.
    func setUp(over client: HTTPClient) async throws -> GooglePlaySetUp {
        guard let serviceAccount else { return GooglePlaySetUp() }
        let account: GooglePlay.ServiceAccount
        do {
            account = try await GooglePlay.ServiceAccount(json: serviceAccount)
        } catch {
            throw ValidationError("TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE: \(error)")
        }
        let transport = googlePlayTransport(over: client, within: .seconds(30))
        let now: @Sendable () -> Int64 = { SystemClock.now().milliseconds / 1000 }
        let tokens = GooglePlay.AccessTokens(
            account: account,
            scopes: [GooglePlay.publisherScope],
            transport: transport,
            now: now
        )
        var setUp = GooglePlaySetUp(
            apps: packageNames.map { package in
                GooglePlaySetUp.App(
                    client: GooglePlay.Client(
                        packageName: package,
                        apiBase: apiBase ?? "https://androidpublisher.googleapis.com",
                        tokens: tokens,
                        transport: transport
                    ),
                    licenseKey: licenseKeys[package]
                )
            }
        )
        if let push {
            setUp.pushTokens = GooglePlay.PushTokens(
                GooglePlay.PushTokenVerifier(
                    audience: push.audience,
                    serviceAccountEmail: push.email
                ),
                keysURL: certificatesURL ?? "https://www.googleapis.com/oauth2/v3/certs",
                transport: transport,
                now: now
            )
        } else if let subscription {
            // Google answers a pull once there is a message, or after a while.
            setUp.pulls = GooglePlay.PubSubClient(
                subscription: subscription,
                apiBase: pubSubBase ?? "https://pubsub.googleapis.com",
                tokens: GooglePlay.AccessTokens(
                    account: account,
                    scopes: [GooglePlay.pubSubScope],
                    transport: transport,
                    now: now
                ),
                transport: googlePlayTransport(over: client, within: .seconds(120))
            )
        }
        setUp.bucket = bucketClient(of: account, over: client, transport, now)
        return setUp
    }

    /// Reads the bucket with a token of its own, which may do nothing else.
    private func bucketClient(
        of account: GooglePlay.ServiceAccount,
        over client: HTTPClient,
        _ transport: @escaping GooglePlay.Transport,
        _ now: @escaping @Sendable () -> Int64
    ) -> GooglePlay.StorageClient? {
        bucket.map { bucket in
            GooglePlay.StorageClient(
                bucket: bucket,
                apiBase: apiBase ?? "https://storage.googleapis.com",
                tokens: GooglePlay.AccessTokens(
                    account: account,
                    scopes: [GooglePlay.storageScope],
                    transport: transport,
                    now: now
                ),
                transport: googlePlayTransport(
                    over: client,
                    within: .seconds(300),
                    upTo: GooglePlay.Report.packedLimit
                )
            )
        }
    }
}
