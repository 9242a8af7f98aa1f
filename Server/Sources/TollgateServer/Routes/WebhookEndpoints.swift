internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// Who is told what changes.
func addWebhookEndpoints(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.post(APIPath.webhookEndpoints.route) { request, _ in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 16 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.decode(API.WebhookEndpointRequest.self, from: body)
            return try WriteAnswer(
                try await tollgate.webhookEndpoints.add(wanted),
                status: .created
            )
        }
    }
    router.get(APIPath.webhookEndpoints.route) { request, _ in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.deliveryLog.endpoints())
    }
    router.get(APIPath.webhookEndpoint.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.deliveryLog.endpoint(try context.id))
    }
    router.post(APIPath.webhookEndpoint.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        let wanted = try await request.json(API.WebhookEndpointRequest.self)
        return try Response.json(try await tollgate.webhookEndpoints.change(try context.id, wanted))
    }
    router.delete(APIPath.webhookEndpoint.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.webhookEndpoints.remove(try context.id))
    }
    router.post(APIPath.webhookEndpointRotateSecret.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 16 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted =
                body.isEmpty
                ? API.WebhookSecretRotation()
                : try StrictBody.decode(API.WebhookSecretRotation.self, from: body)
            return try WriteAnswer(
                try await tollgate.webhookEndpoints.rotateSecret(try context.id, wanted)
            )
        }
    }
    router.post(APIPath.webhookEndpointReplay.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 16 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted = try StrictBody.decode(API.WebhookReplayRequest.self, from: body)
            return try WriteAnswer(
                try await tollgate.webhookEndpoints.replay(try context.id, wanted)
            )
        }
    }
    router.get(APIPath.webhookEndpointDeliveries.route) { request, context in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(
            try await tollgate.deliveryLog.deliveries(
                of: try context.id,
                status: request.parameter("status"),
                startingAfter: request.parameter(APIQuery.startingAfter),
                limit: try request.limit()
            )
        )
    }
}
