/// The service account by which the app's server reads and acts.
struct ServiceAccount: Hashable, Sendable, Codable {
    /// The account's permissions in Play Console.
    enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        case viewApp = "view_app"
        case viewFinancialData = "view_financial_data"
        case manageOrders = "manage_orders"
    }

    let project: String
    let clientID: String
    let identity: SigningIdentity
    var permissions = Permission.allCases

    /// - Parameter identity: its key; a new one if left out.
    init(
        project: String,
        identity: SigningIdentity? = nil,
        using random: inout SeededRandom
    ) throws {
        self.project = project
        clientID = random.digits(21)
        let keyID = random.text(40, of: "0123456789abcdef")
        self.identity =
            try identity ?? SigningIdentity.make(commonName: "tollgate-sandbox", keyID: keyID)
    }

    var email: String { "sandbox@\(project).iam.gserviceaccount.com" }

    /// The key file, as Google Cloud hands it out.
    func file(tokenURL: String) -> JSON {
        [
            "type": "service_account", "project_id": .string(project),
            "private_key_id": .string(identity.keyID),
            "private_key": .string(identity.privateKey),
            "client_email": .string(email), "client_id": .string(clientID),
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": .string(tokenURL),
            "universe_domain": "googleapis.com",
        ]
    }
}
