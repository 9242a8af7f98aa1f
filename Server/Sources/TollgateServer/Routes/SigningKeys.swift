internal import Foundation
internal import Hummingbird
internal import Logging
internal import TollgateAPI
internal import TollgateService

/// The keys that sign answers, and the next one.
func addSigningKeys(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.signingKeys.route) { request, _ in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.signingKeys())
    }
    router.post(APIPath.signingKeysRotate.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.requireSecret()
        let body = try await request.bytes(upTo: 16 << 10)
        return try await request.once(tollgate, credentials, body) {
            let wanted =
                body.isEmpty
                ? API.SigningKeyRotation()
                : try StrictBody.decode(API.SigningKeyRotation.self, from: body)
            // Whoever has the secret key: a person with the command line, or the app's backend.
            let name = context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
            let actor = Actor(name: "secret key", role: "backend", request: name)
            return try WriteAnswer(try await tollgate.rotateSigningKey(wanted, by: actor))
        }
    }
}
