import AppStoreAPI
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StripeAPI
import TollgateCore

/// How the stores are reached and whom they are trusted as, from `TOLLGATE_APP_STORE_…` and
/// `TOLLGATE_STRIPE_…`.
struct StoreSettings: Sendable {
    var roots: [[UInt8]] = []
    var bundleID: String?
    var appAppleID: Int64?
    var environments: Set<AppStore.Environment> = []
    var stripeSecretKey: String?
    var stripeAPIBase = "https://api.stripe.com"

    init() throws {
        for path in Settings.list("APP_STORE_ROOTS") {
            do {
                roots.append(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
            } catch {
                throw CheckFailed(
                    message:
                        "TOLLGATE_APP_STORE_ROOTS: \(path) cannot be read: \(error.localizedDescription)"
                )
            }
        }
        bundleID = Settings.text(nil, "APP_STORE_BUNDLE_ID")
        if let text = Settings.text(nil, "APP_STORE_APP_APPLE_ID") {
            guard let id = Int64(text) else {
                throw ValidationError("TOLLGATE_APP_STORE_APP_APPLE_ID: '\(text)' is not a number.")
            }
            appAppleID = id
        }
        for word in Settings.list("APP_STORE_ENVIRONMENT") {
            switch word.lowercased() {
            case "production": environments.insert(.production)
            case "sandbox": environments.insert(.sandbox)
            default:
                throw ValidationError(
                    "TOLLGATE_APP_STORE_ENVIRONMENT: '\(word)' is not Production or Sandbox. Xcode and LocalTesting sign nothing and are never accepted."
                )
            }
        }
        stripeSecretKey = Settings.text(nil, "STRIPE_SECRET_KEY")
        stripeAPIBase = Settings.text(nil, "STRIPE_API_BASE") ?? stripeAPIBase
    }

    /// Where only one environment is served, it is the answer's; else the key decides.
    func defaultEnvironment(for secretKey: String) -> StoreEnvironment {
        if environments.count == 1 {
            return environments.contains(.production) ? .production : .sandbox
        }
        return secretKey.hasPrefix("sk_live_") ? .production : .sandbox
    }

    /// - Throws: a usage error where the App Store is half set up.
    func verifier() throws -> AppStore.SignedDataVerifier? {
        if roots.isEmpty, bundleID == nil { return nil }
        guard let bundleID, !roots.isEmpty else {
            throw ValidationError(
                "The App Store needs both TOLLGATE_APP_STORE_ROOTS (DER files of trusted roots) and TOLLGATE_APP_STORE_BUNDLE_ID."
            )
        }
        do {
            return try AppStore.SignedDataVerifier(
                roots: roots,
                bundleID: bundleID,
                appAppleID: appAppleID,
                environments: environments.isEmpty
                    ? (appAppleID == nil ? [.sandbox] : [.production, .sandbox]) : environments
            )
        } catch {
            throw ValidationError("\(error)")
        }
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

/// HTTP over the shared client: an answer within 30 seconds and 4 MB, or an error.
func transport(over client: HTTPClient) -> Stripe.Client.Transport {
    { request in
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = .init(rawValue: request.method.rawValue)
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        if !request.body.isEmpty { outgoing.body = .bytes(request.body) }
        let response = try await client.execute(outgoing, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 4 << 20)
        var headers: [String: String] = [:]
        for (name, value) in response.headers { headers[name.lowercased()] = value }
        return Stripe.Response(
            status: Int(response.status.code),
            headers: headers,
            body: Array(body.readableBytesView)
        )
    }
}
