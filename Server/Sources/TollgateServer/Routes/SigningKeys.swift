internal import HTTPTypes
internal import TollgateAPI
internal import TollgateService

/// The keys that sign answers, and the next one.
func addSigningKeys(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .signingKeys, by: .secretKey) { _ in try await tollgate.signingKeys.all() }
    api.write(
        .signingKeysRotate,
        by: .secretKey,
        upTo: 16 << 10,
        ifEmpty: API.SigningKeyRotation()
    ) { try WriteAnswer(try await tollgate.signingKeys.rotate($1, by: Actor($0))) }
}
