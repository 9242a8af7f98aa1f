import StrictJSON

extension AppStore {
    /// What the App Store posts (version 2): `{"signedPayload": "…"}`.
    public struct NotificationBody: Hashable, Sendable {
        /// The JWS to verify.
        public let signedPayload: [UInt8]

        /// Reads the body of a request.
        public init(_ body: [UInt8]) throws(VerificationError) {
            let json: JSON
            do { json = try JSON(body) } catch { throw VerificationError.json(error, of: "body") }
            guard json.kind == .object, let member = json["signedPayload"] else {
                throw VerificationError(.fieldMissing, at: "signedPayload")
            }
            guard let signedPayload = member.utf8 else {
                throw VerificationError(.fieldType, at: "signedPayload")
            }
            self.signedPayload = signedPayload
        }
    }
}
