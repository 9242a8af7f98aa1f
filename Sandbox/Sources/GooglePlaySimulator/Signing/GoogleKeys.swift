/// The keys by which Google signs identity tokens: several at once, the newest signs.
struct GoogleKeys: Hashable, Sendable, Codable {
    /// Keys that verify at one time.
    static let kept = 2
    /// Seconds for which certificates may be cached.
    static let maxAge = 22_000

    private(set) var identities: [SigningIdentity]

    /// One key, until it is rotated.
    init(_ identity: SigningIdentity) { identities = [identity] }

    init(using random: inout SeededRandom) throws {
        identities = []
        try rotate(using: &random)
        try rotate(using: &random)
    }

    /// A new key signs from now on; the oldest one is gone.
    mutating func rotate(using random: inout SeededRandom) throws {
        let keyID = random.text(40, of: "0123456789abcdef")
        identities.append(
            try SigningIdentity.make(
                commonName: "federated-signon.system.gserviceaccount.com",
                keyID: keyID
            )
        )
        if identities.count > Self.kept { identities.removeFirst() }
    }

    /// `/oauth2/v1/certs`: X.509 in PEM by key id.
    var certificates: JSON {
        .object(
            Dictionary(uniqueKeysWithValues: identities.map { ($0.keyID, .string($0.certificate)) })
        )
    }

    /// `/oauth2/v3/certs`: a JSON Web Key Set.
    var webKeys: JSON {
        get throws { ["keys": .array(try identities.map { try $0.webKey })] }
    }

    /// An identity token of a service account.
    ///
    /// - Parameter seconds: UNIX time; tokens live in real time.
    func identityToken(
        email: String,
        subject: String,
        audience: String,
        issuer: String,
        seconds: Int64
    ) throws -> String {
        let claims: JSON = [
            "iss": .string(issuer), "aud": .string(audience), "azp": .string(subject),
            "sub": .string(subject), "email": .string(email), "email_verified": true,
            "iat": .integer(seconds), "exp": .integer(seconds + 3600),
        ]
        return try identities[identities.count - 1].sign(claims)
    }
}
