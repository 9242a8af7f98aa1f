public import TollgateCore

/// What a server is told about itself.
///
/// Every value has an option and an environment variable.
public struct Configuration: Sendable {
    /// The app's backend speaks with this key.
    public var secretKey: String
    /// The app speaks with this one.
    public var publishableKey: String
    /// Where people's browsers reach this server: `https://billing.example.com`.
    public var publicURL: String
    /// Where the pages that people see lead back to; nil where they can only be closed.
    public var appURL: String?
    /// Where Stripe's own portal leads back to; nil: to the portal page of this server.
    public var portalReturnURL: String?
    /// Secrets of the Stripe webhook endpoint; while one is rolled, both.
    public var stripeWebhookSecrets: [String]
    /// `TEAMID.bundle.id` of the apps whose universal links lead here.
    public var appleAppIDs: [String]
    /// Asked where neither the session nor the question names one.
    public var defaultEnvironment: StoreEnvironment
    /// How long a customer session lasts, in seconds.
    public var sessionLifetime: Int64

    public init(
        secretKey: String,
        publishableKey: String,
        publicURL: String,
        appURL: String? = nil,
        portalReturnURL: String? = nil,
        stripeWebhookSecrets: [String] = [],
        appleAppIDs: [String] = [],
        defaultEnvironment: StoreEnvironment,
        sessionLifetime: Int64 = 1800
    ) {
        self.secretKey = secretKey
        self.publishableKey = publishableKey
        self.publicURL = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        self.appURL = appURL
        self.portalReturnURL = portalReturnURL
        self.stripeWebhookSecrets = stripeWebhookSecrets
        self.appleAppIDs = appleAppIDs
        self.defaultEnvironment = defaultEnvironment
        self.sessionLifetime = sessionLifetime
    }
}
