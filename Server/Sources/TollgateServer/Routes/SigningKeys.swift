internal import Foundation
internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// The keys that sign answers, and the next one.
func addSigningKeys(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.signingKeys.route) { request, _ in
        try await Credentials(request, tollgate).requireSecret()
        return try Response.json(try await tollgate.signingKeys.all())
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
            let actor = Actor(credentials, context)
            return try WriteAnswer(try await tollgate.signingKeys.rotate(wanted, by: actor))
        }
    }
}
