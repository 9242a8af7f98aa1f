internal import AppStoreConnector
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import StripeConnector
internal import TollgateAPI
internal import TollgateService

/// Where the stores report.
///
/// 200 only once it is on disk. What is written as usual never comes here: `StoreMessages` takes it
/// in where it is read.
func addWebhooks(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    for webhook in StoreWebhook.allCases {
        router.post(webhook.path.route) { request, _ in
            let body = try await request.bytes(upTo: webhook.limit)
            try await webhook.receive(body, request.headers, tollgate)
            return Response.json(bytes: receivedBody)
        }
    }
    // The App Store asks here, and waits, while a customer is about to cancel.
    router.post(APIPath.appStoreRetentionMessage.route) { request, _ in
        let body = try await request.bytes(upTo: StoreWebhook.appStore.limit)
        return Response.json(
            bytes: Data(try await tollgate.appStore.retentionMessages.reply(to: body))
        )
    }
}

/// An address at which a store reports.
enum StoreWebhook: CaseIterable {
    case appStore
    case stripe

    var path: APIPath {
        switch self {
        case .appStore: .appStoreWebhook
        case .stripe: .stripeWebhook
        }
    }

    /// How many bytes a message has at most.
    var limit: Int {
        switch self {
        case .appStore: 128 << 10
        case .stripe: 1 << 20
        }
    }

    /// Takes in a message; it is on disk when this returns.
    func receive(
        _ body: [UInt8],
        _ fields: HTTPFields,
        _ tollgate: Tollgate
    ) async throws {
        switch self {
        case .appStore:
            _ = try await tollgate.appStore.receive(ReceivedMessage(body))
        case .stripe:
            let signature = HTTPField.Name("Stripe-Signature").flatMap { fields[$0] }
            _ = try await tollgate.stripe.receive(
                ReceivedMessage(body, .delivered(signature: signature))
            )
        }
    }
}
