internal import AppStoreConnector
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateAssembly
internal import TollgateService

/// Where the stores report.
///
/// 200 only once it is on disk. What is written as usual never comes here: `StoreMessages` takes it
/// in where it is read.
func addWebhooks(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    for connector in tollgate.connectors {
        router.post(connector.webhook.path.route) { request, _ in
            let body = try await request.bytes(upTo: connector.webhook.limit)
            try await connector.receive(body, request.headers)
            return Response.json(bytes: receivedBody)
        }
    }
    // The App Store asks here, and waits, while a customer is about to cancel.
    router.post(APIPath.appStoreRetentionMessage.route) { request, _ in
        let body = try await request.bytes(upTo: tollgate.appStore.webhook.limit)
        return Response.json(
            bytes: Data(try await tollgate.appStore.retentionMessages.reply(to: body))
        )
    }
}

extension StoreConnector {
    /// Takes in a message; it is on disk when this returns.
    func receive(_ body: [UInt8], _ fields: HTTPFields) async throws {
        let signature = webhook.signature.flatMap { HTTPField.Name($0) }.flatMap { fields[$0] }
        _ = try await receive(ReceivedMessage(body, .delivered(signature: signature)))
    }
}

extension Tollgate {
    /// Where stores send messages, and ask what a customer is shown who is about to cancel.
    var storePaths: Set<String> {
        Set(connectors.map(\.webhook.path.template))
            .union([APIPath.appStoreRetentionMessage.template])
    }
}
