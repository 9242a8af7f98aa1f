import Foundation
import StripeAPI

/// A Stripe event from the bytes of the request to the decoded subscription.
struct StripeWork {
    enum Failure: Error {
        case noSubscription
    }

    private let requests: [(header: String, body: [UInt8])]
    private let secrets: [String]
    private let now: Int64

    init(_ options: Options) throws {
        let corpus = try Corpus(path: options.stripeEvents, limit: SignatureBenchmark.inputs)
        requests = corpus.records.map { record in
            let value = record.head.split(separator: ": ", maxSplits: 1).last ?? ""
            return (value.trimmingCharacters(in: .newlines), record.body)
        }
        secrets = [options.webhookSecret]
        now = Int64(Date().timeIntervalSince1970)
    }

    func verify(_ number: Int) throws {
        let (header, body) = requests[number % requests.count]
        try Stripe.WebhookSignature.verify(
            header: header,
            body: body,
            secrets: secrets,
            now: now
        )
        guard case .subscription = try Stripe.Event(bytes: body).subject() else {
            throw Failure.noSubscription
        }
    }
}
