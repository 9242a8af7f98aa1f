import Foundation

/// Rates on one core, without HTTP and database, as one JSON object.
///
/// Raw P-256 verification, whole notifications and whole Stripe events verified and decoded.
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
            withJSONObject: report,
            options: [.prettyPrinted, .sortedKeys]
        )
        print(String(decoding: text, as: UTF8.self))
    }
}
