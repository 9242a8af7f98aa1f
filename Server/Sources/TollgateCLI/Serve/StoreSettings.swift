import AppStoreConnector
import CommandOutput
import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import GooglePlayConnector
import StripeAPI
import TollgateAssembly
import TollgateCore
import TollgateService

/// How the stores are reached and whom they are trusted as, from `TOLLGATE_APP_STORE_…`,
/// `TOLLGATE_GOOGLE_PLAY_…` and `TOLLGATE_STRIPE_…`.
struct StoreSettings: Sendable {
    var roots: [[UInt8]] = []
    /// The apps: those of the catalog, else the one that the settings name.
    var apps: [AppStore.SignedDataVerifier.App] = []
    var environments: Set<AppStore.Environment> = []
    /// The certificates of StoreKit testing in Xcode; `nil`: nothing that Xcode signs is taken.
    var xcode: AppStore.XcodeCertificates?
    var appStoreKey: AppStore.APIKey?
    /// Another address than Apple's: the sandbox's.
    var appStoreBaseURL: String?
    var sharedSecret: String?
    /// Whether certificates are asked about (OCSP).
    var checksOnline = false
    var stripeSecretKey: String?
    var stripeAPIBase = "https://api.stripe.com"
    var googlePlay = GooglePlaySettings.absent
    /// How the reports of App Store Connect are fetched.
    var connect: ConnectSettings
    /// Apple's expected commission.
    var appStoreTerms = AppStoreTerms()

    /// - Parameter catalog: lists the apps, where there are several; `nil`: it is not known.
    /// - Throws: `WrongSettings` with everything that cannot be read.
    init(_ catalog: TollgateCore.Catalog?) throws {
        var problems = SettingProblems()
        connect = problems.take { try ConnectSettings() } ?? ConnectSettings.absent
        appStoreTerms.isSmallBusiness =
            problems.take { try Settings.flag("APP_STORE_SMALL_BUSINESS") } ?? false
        roots = Settings.list("APP_STORE_ROOTS").compactMap { path in
            problems.take { try Self.root(path) }
        }
        apps = problems.take { try Self.apps(catalog?.apps ?? []) } ?? []
        environments = Set(
            Settings.list("APP_STORE_ENVIRONMENT").compactMap { word in
                problems.take { try Self.environment(word) }
            }
        )
        xcode = problems.take { try Self.xcodeCertificates() } ?? nil
        appStoreBaseURL = Settings.text(nil, "APP_STORE_BASE_URL").map {
            $0.hasSuffix("/") ? String($0.dropLast()) : $0
        }
        appStoreKey = problems.take { try Self.key("APP_STORE") } ?? nil
        if appStoreKey != nil, apps.isEmpty, catalog != nil {
            problems.add([
                "The key of App Store Connect needs TOLLGATE_APP_STORE_BUNDLE_ID beside it, or ‘apps’ in the catalog."
            ])
        }
        sharedSecret = Settings.text(nil, "APP_STORE_SHARED_SECRET")
        checksOnline = problems.take { try Settings.flag("APP_STORE_ONLINE_CHECKS") } ?? false
        stripeSecretKey = Settings.text(nil, "STRIPE_SECRET_KEY")
        stripeAPIBase = Settings.text(nil, "STRIPE_API_BASE") ?? stripeAPIBase
        googlePlay = problems.take { try GooglePlaySettings(catalog?.apps ?? []) } ?? .absent
        try problems.throwIfAny()
    }

    private static func root(_ path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw CheckFailed(
                message:
                    "TOLLGATE_APP_STORE_ROOTS: \(path) cannot be read: \(PlainWords.of(error))"
            )
        }
    }

    /// - Throws: a usage error where both the catalog and the settings name apps.
    private static func apps(
        _ listed: [TollgateCore.Catalog.App]
    ) throws -> [AppStore.SignedDataVerifier.App] {
        let number = try appAppleID()
        guard !listed.isEmpty else {
            guard let bundleID = Settings.text(nil, "APP_STORE_BUNDLE_ID") else { return [] }
            return [AppStore.SignedDataVerifier.App(bundleID: bundleID, appAppleID: number)]
        }
        for name in ["APP_STORE_BUNDLE_ID", "APP_STORE_APP_APPLE_ID"]
        where Settings.text(nil, name) != nil {
            throw ValidationError(
                "TOLLGATE_\(name) is of one app, and the catalog lists its ‘apps’. Unset it, and write bundle_id and app_apple_id into the catalog."
            )
        }
        return listed.compactMap { app in
            app.bundleID.map {
                AppStore.SignedDataVerifier.App(bundleID: $0, appAppleID: app.appAppleID)
            }
        }
    }

    private static func appAppleID() throws -> Int64? {
        guard let text = Settings.text(nil, "APP_STORE_APP_APPLE_ID") else { return nil }
        guard let id = Int64(text) else {
            throw ValidationError("TOLLGATE_APP_STORE_APP_APPLE_ID: '\(text)' is not a number.")
        }
        return id
    }

    private static func environment(_ word: String) throws -> AppStore.Environment {
        switch word.lowercased() {
        case "production": return .production
        case "sandbox": return .sandbox
        default:
            throw ValidationError(
                "TOLLGATE_APP_STORE_ENVIRONMENT: '\(word)' is not Production or Sandbox. For StoreKit testing in Xcode set Sandbox, and TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE."
            )
        }
    }

    /// Where only one environment is served, it is the answer's; else the key decides.
    func defaultEnvironment(for secretKey: String) -> StoreEnvironment {
        if environments.count == 1 {
            return environments.contains(.production) ? .production : .sandbox
        }
        return secretKey.hasPrefix("sk_live_") ? .production : .sandbox
    }

    /// - Throws: a usage error where the App Store is half set up, or where Xcode is to be trusted beside
    ///   production.
    func verifier() throws -> AppStore.SignedDataVerifier? {
        if roots.isEmpty, apps.isEmpty, xcode == nil { return nil }
        guard !apps.isEmpty, !roots.isEmpty || xcode != nil else {
            throw ValidationError(
                xcode == nil
                    ? "The App Store needs both TOLLGATE_APP_STORE_ROOTS (DER files of trusted roots) and TOLLGATE_APP_STORE_BUNDLE_ID, or ‘apps’ in the catalog."
                    : "TOLLGATE_\(Self.xcodeSetting) needs TOLLGATE_APP_STORE_BUNDLE_ID beside it, or ‘apps’ in the catalog."
            )
        }
        guard xcode == nil || !servedEnvironments.contains(.production) else {
            throw ValidationError(
                "TOLLGATE_\(Self.xcodeSetting) trusts what Xcode signs on a developer's machine, and this server serves Production. Unset it. To test with Xcode, start another server with a database of its own and TOLLGATE_APP_STORE_ENVIRONMENT=Sandbox."
            )
        }
        do {
            return try AppStore.SignedDataVerifier(
                roots: roots,
                apps: apps,
                environments: servedEnvironments,
                xcode: xcode
            )
        } catch {
            throw ValidationError(PlainWords.of(error))
        }
    }

    private static let xcodeSetting = "APP_STORE_XCODE_CERTIFICATE_FILE"

    private static func xcodeCertificates() throws -> AppStore.XcodeCertificates? {
        guard let path = Settings.text(nil, xcodeSetting) else { return nil }
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw CheckFailed(
                message: "TOLLGATE_\(xcodeSetting): \(path) cannot be read: \(PlainWords.of(error))"
            )
        }
        do { return try AppStore.XcodeCertificates(file: Array(bytes)) } catch {
            throw CheckFailed(
                message:
                    "TOLLGATE_\(xcodeSetting): \(path): \(error.description). Take the certificate from a transaction: docs/sdk.md, StoreKit testing in Xcode."
            )
        }
    }

    /// Those that are named; else the sandbox, and production where an app's number is known.
    var servedEnvironments: Set<AppStore.Environment> {
        guard environments.isEmpty else { return environments }
        return apps.contains { $0.appAppleID != nil } ? [.production, .sandbox] : [.sandbox]
    }

    /// A key of App Store Connect: `TOLLGATE_<PREFIX>_ISSUER_ID`, `…_KEY_ID` and `…_KEY_FILE`.
    ///
    /// - Throws: a usage error where it is half set up or cannot be read.
    static func key(_ prefix: String) throws -> AppStore.APIKey? {
        let names = ["ISSUER_ID", "KEY_ID", "KEY_FILE"].map { "\(prefix)_\($0)" }
        let values = names.map { Settings.text(nil, $0) }
        if values.allSatisfy({ $0 == nil }) { return nil }
        guard let issuerID = values[0], let keyID = values[1], let path = values[2] else {
            let all = names.map { "TOLLGATE_" + $0 }.joined(separator: ", ")
            throw ValidationError("A key of App Store Connect needs all of \(all).")
        }
        do {
            let pem = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
            return try AppStore.APIKey(issuerID: issuerID, keyID: keyID, pem: pem)
        } catch {
            throw CheckFailed(
                message:
                    "TOLLGATE_\(names[2]): \(path) is no .p8 file that can be read: \(PlainWords.of(error))"
            )
        }
    }

    /// How the App Store is spoken to; `nil` where there is no key.
    func appStoreClients(over client: HTTPClient) -> AppStoreClients? {
        guard let appStoreKey, !apps.isEmpty else { return nil }
        return AppStoreClients(
            key: appStoreKey,
            bundleIDs: apps.map(\.bundleID),
            baseURL: appStoreBaseURL,
            over: client
        )
    }

    /// What is optional about the App Store, as far as it is configured.
    func appStoreOptions(over client: HTTPClient) -> AppStoreOptions {
        var options = AppStoreOptions(
            sharedSecret: sharedSecret,
            connect: connect.client(over: client)
        )
        options.terms = appStoreTerms
        let carry = appStoreTransport(over: client)
        if checksOnline {
            options.revocation = AppStore.RevocationChecks(
                transport: carry,
                now: { SystemClock.now().milliseconds }
            )
        }
        if let sharedSecret {
            var urls: [AppStore.Environment: String] = [:]
            for environment in servedEnvironments {
                urls[environment] =
                    appStoreBaseURL.map { $0 + "/verifyReceipt" }
                    ?? AppStore.ReceiptClient.url(of: environment)
            }
            options.receipts = AppStore.ReceiptClient(
                sharedSecret: sharedSecret,
                urls: urls,
                transport: carry
            )
        }
        return options
    }

    /// What customers are shown who are about to cancel.
    ///
    /// - Parameter canSign: whether there is a key of App Store Connect, with which offers are signed.
    /// - Throws: `CheckFailed` with every mistake in the table of retention messages, or where it has
    ///   an offer and there is no key to sign it with.
    static func retentionRules(
        _ catalog: TollgateCore.Catalog,
        canSign: Bool
    ) throws -> [RetentionRule] {
        guard let path = Settings.text(nil, "RETENTION_MESSAGES") else { return [] }
        let rules: [RetentionRule]
        do {
            rules = try RetentionRules.read(
                bytes: try Data(contentsOf: URL(fileURLWithPath: path)),
                file: path,
                catalog: catalog
            )
        } catch let errors as CatalogErrors {
            throw CheckFailed(message: errors.description)
        } catch {
            throw CheckFailed(
                message:
                    "TOLLGATE_RETENTION_MESSAGES: \(path) cannot be read: \(PlainWords.of(error))"
            )
        }
        let signs = rules.contains { rule in
            if case .promotionalOffer = rule.choice { true } else { false }
        }
        guard canSign || !signs else {
            throw CheckFailed(
                message:
                    "TOLLGATE_RETENTION_MESSAGES: \(path) has an ‘offer’, which this server signs with a key of App Store Connect, and there is none. Set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE, or remove the offer."
            )
        }
        return rules
    }

    func stripe(over client: HTTPClient) -> Stripe.Client? {
        guard let stripeSecretKey else { return nil }
        return Stripe.Client(
            apiBase: stripeAPIBase,
            secretKey: stripeSecretKey,
            transport: transport(over: client)
        )
    }
}

extension AppStoreClients {
    /// - Parameter baseURL: where a sandbox is; nil: Apple's own addresses.
    init(key: AppStore.APIKey, bundleIDs: [String], baseURL: String?, over client: HTTPClient) {
        func made(
            _ environment: AppStore.Environment,
            _ bundleID: String
        ) -> AppStore.ServerAPIClient {
            AppStore.ServerAPIClient(
                key: key,
                bundleID: bundleID,
                hosts: baseURL.map { [$0] } ?? AppStore.ServerAPIClient.hosts(of: environment),
                transport: appStoreTransport(over: client),
                now: { SystemClock.now().milliseconds }
            )
        }
        self.init(
            key: key,
            apps: bundleIDs.map {
                App(
                    bundleID: $0,
                    production: made(.production, $0),
                    sandbox: made(.sandbox, $0)
                )
            }
        )
    }
}

/// The stores that are set up, and how each is spoken to.
struct StoreConnections: Sendable {
    /// `nil` where no trusted root is configured.
    var appStore: AppStore.SignedDataVerifier?
    var appStoreClients: AppStoreClients?
    var appStoreOptions = AppStoreOptions()
    /// `nil` where no secret key is configured.
    var stripe: Stripe.Client?
    var googlePlay = GooglePlaySetUp()
}

extension StoreSettings {
    /// Every store, as far as it is set up.
    func connections(over client: HTTPClient) async throws -> StoreConnections {
        StoreConnections(
            appStore: try verifier(),
            appStoreClients: appStoreClients(over: client),
            appStoreOptions: appStoreOptions(over: client),
            stripe: stripe(over: client),
            googlePlay: try await googlePlay.setUp(over: client)
        )
    }

    /// The name of a store that is set up.
    func name(ofSetUp store: Store) throws -> String? {
        switch store {
        case .appStore: try verifier() == nil ? nil : "the App Store"
        case .stripe: stripeSecretKey == nil ? nil : "Stripe"
        case .googlePlay: googlePlay.isSetUp ? "Google Play" : nil
        case .tollgate: nil
        }
    }
}
