internal import HTTPTypes
internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// Where the stores report.
///
/// 200 only once it is on disk.
func addWebhooks(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.appStoreWebhook.route) { request, _ in
        let body = try await request.bytes(upTo: 128 << 10)
        _ = try await tollgate.receiveAppStoreNotification(body)
        return received
    }
    router.post(APIPath.stripeWebhook.route) { request, _ in
        let body = try await request.bytes(upTo: 1 << 20)
        let signature = HTTPField.Name("Stripe-Signature").flatMap { request.headers[$0] }
        _ = try await tollgate.receiveStripeEvent(body, signature: signature)
        return received
    }
}

private var received: Response {
    Response.json(bytes: receivedBody)
}
