import AppStoreAPI
import Foundation

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
            roots: [options.root],
            bundleID: options.bundleID,
            appAppleID: nil,
            environments: [.sandbox]
        )
        bodies =
            try other?.bodies
            ?? Corpus(path: options.notifications, limit: SignatureBenchmark.inputs).records.map(
                \.body
            )
        now = Int64(Date().timeIntervalSince1970 * 1000)
    }

    func verify(_ number: Int) throws {
        let body = try AppStore.NotificationBody(bodies[number % bodies.count])
        let notification = try verifier.verifyNotification(
            signedPayload: body.signedPayload,
            now: now
        )
        guard let data = notification.data, data.transaction?.transactionID != nil,
            data.renewalInfo?.originalTransactionID != nil
        else { throw Failure.incomplete }
    }
}
