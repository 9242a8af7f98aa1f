import AppStoreAPI
import Crypto
import Foundation
import StripeAPI

/// Rates on one core, without HTTP and database: raw P-256 verification, whole notifications
/// verified and decoded, Stripe events verified and decoded. Prints one JSON object.
@main
struct SignatureBenchmark {
    static let secondsOfRound = 0.3
    static let inputs = 2_000

    static func main() throws {
        let options = try Options(CommandLine.arguments)
        let notifications = try NotificationWork(options)
        let events = try StripeWork(options)
        let signatures = try RawSignatures()

        // In turn, so that a slower moment of the machine slows all of them.
        var raw = Rate()
        var notification = Rate()
        var stripe = Rate()
        for _ in 0..<options.rounds {
            raw.measure(seconds: secondsOfRound, signatures.verify)
            try notification.measure(seconds: secondsOfRound, notifications.verify)
            try stripe.measure(seconds: secondsOfRound, events.verify)
        }
        var chain = Rate()
        try chain.measure(seconds: secondsOfRound) { _ in
            try NotificationWork(options, sharing: notifications).verify(0)
        }

        let report: [String: Any] = [
            "raw_p256_per_second": raw.median,
            "notifications_per_second": notification.median,
            "stripe_events_per_second": stripe.median,
            "new_chain_us": 1e6 / chain.median - 1e6 / notification.median,
            "rounds": [
                "raw_p256": raw.rounds, "notifications": notification.rounds,
                "stripe_events": stripe.rounds,
            ],
        ]
        let text = try JSONSerialization.data(
            withJSONObject: report, options: [.prettyPrinted, .sortedKeys])
        print(String(decoding: text, as: UTF8.self))
    }
}

/// The command line.
struct Options {
    enum Failure: Error {
        case missing(String)
        case unreadable(String)
    }

    let notifications: String
    let stripeEvents: String
    let root: [UInt8]
    let rounds: Int
    let bundleID = "com.example.app"
    let webhookSecret = "whsec_benchmark0000000000000000000"

    init(_ arguments: [String]) throws {
        func value(_ name: String) throws -> String {
            guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
                throw Failure.missing(name)
            }
            return arguments[index + 1]
        }
        notifications = try value("--notifications")
        stripeEvents = try value("--stripe-events")
        let path = try value("--root")
        guard let root = FileManager.default.contents(atPath: path) else {
            throw Failure.unreadable(path)
        }
        self.root = [UInt8](root)
        rounds = Int(try value("--rounds")) ?? 5
    }
}

/// What the hardware gives: signatures over digests that were made before.
struct RawSignatures {
    private let key: P256.Signing.PublicKey
    private let signed: [(digest: SHA256.Digest, signature: P256.Signing.ECDSASignature)]

    init() throws {
        let key = P256.Signing.PrivateKey()
        self.key = key.publicKey
        signed = try (0..<256).map { number in
            let digest = SHA256.hash(data: Data("message \(number)".utf8))
            return (digest, try key.signature(for: digest))
        }
    }

    func verify(_ number: Int) {
        let (digest, signature) = signed[number % signed.count]
        precondition(key.isValidSignature(signature, for: digest))
    }
}

/// A notification from the bytes of the request to the decoded transaction and renewal info.
struct NotificationWork {
    enum Failure: Error {
        case incomplete
    }

    private let verifier: AppStore.SignedDataVerifier
    private let bodies: [[UInt8]]
    private let now: Int64

    init(_ options: Options, sharing other: NotificationWork? = nil) throws {
        verifier = try AppStore.SignedDataVerifier(
            roots: [options.root], bundleID: options.bundleID, appAppleID: nil,
            environments: [.sandbox])
        bodies =
            try other?.bodies
            ?? Corpus(path: options.notifications, limit: SignatureBenchmark.inputs).records.map(
                \.body)
        now = Int64(Date().timeIntervalSince1970 * 1000)
    }

    func verify(_ number: Int) throws {
        let body = try AppStore.NotificationBody(bodies[number % bodies.count])
        let notification = try verifier.verifyNotification(
            signedPayload: body.signedPayload, now: now)
        guard let data = notification.data, data.transaction?.transactionID != nil,
            data.renewalInfo?.originalTransactionID != nil
        else { throw Failure.incomplete }
    }
}
