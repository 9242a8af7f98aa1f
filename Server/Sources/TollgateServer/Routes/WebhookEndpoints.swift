internal import HTTPTypes
internal import TollgateAPI
internal import TollgateService

/// Who is told what changes.
func addWebhookEndpoints(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.write(.webhookEndpoints, by: .secretKey, upTo: 16 << 10) {
        (_, wanted: API.WebhookEndpointRequest) in
        try WriteAnswer(try await tollgate.webhookEndpoints.add(wanted), status: .created)
    }
    api.on(.get, .webhookEndpoints, by: .secretKey) { _ in
        try await tollgate.deliveryLog.endpoints()
    }
    api.on(.get, .webhookEndpoint, by: .secretKey) {
        try await tollgate.deliveryLog.endpoint($0.id)
    }
    api.on(.post, .webhookEndpoint, by: .secretKey) {
        let wanted = try await $0.json(API.WebhookEndpointRequest.self)
        return try await tollgate.webhookEndpoints.change($0.id, wanted)
    }
    api.on(.delete, .webhookEndpoint, by: .secretKey) {
        try await tollgate.webhookEndpoints.remove($0.id)
    }
    api.write(
        .webhookEndpointRotateSecret,
        by: .secretKey,
        upTo: 16 << 10,
        ifEmpty: API.WebhookSecretRotation()
    ) { try WriteAnswer(try await tollgate.webhookEndpoints.rotateSecret($0.id, $1)) }
    api.write(.webhookEndpointReplay, by: .secretKey, upTo: 16 << 10) {
        (call, wanted: API.WebhookReplayRequest) in
        try WriteAnswer(try await tollgate.webhookEndpoints.replay(call.id, wanted))
    }
    api.on(.get, .webhookEndpointDeliveries, by: .secretKey) {
        try await tollgate.deliveryLog.deliveries(
            of: $0.id,
            status: $0.request.parameter("status"),
            startingAfter: $0.request.parameter(APIQuery.startingAfter),
            limit: $0.request.limit()
        )
    }
}
