public import TollgateCore

/// What a server is told about itself.
///
/// Every value has an option and an environment variable.
public struct Configuration: Sendable {
    /// The app's backend speaks with this key.
    public var secretKey: String
    /// What it spoke with before, and may still: a key is changed without anybody being refused.
    public var formerSecretKeys: [String]
    /// The app speaks with this one.
    public var publishableKey: String
    /// What older versions of the app speak with.
    public var formerPublishableKeys: [String]
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
    /// The app of each publishable key, by our own id of the app; empty where there is one app.
    public var appsOfKeys: [String: String]
    /// Asked where neither the session nor the question names one.
    public var defaultEnvironment: StoreEnvironment
    /// What the stores' reports in the database tell of: that of the server, whose keys fetched them.
    ///
    /// `nil` where nobody said which that is, as to a command that knows none of its keys; then it is
    /// what is asked for.
    public var reportedEnvironment: StoreEnvironment?
    /// The cost N of scrypt for a new password: 50 ms and 32 MB of work.
    ///
    /// Tests take less.
    package var passwordRounds = 1 << 15
    /// How long a customer session lasts, in seconds.
    public var sessionLifetime: Int64
    /// Whether webhooks go to this machine and its neighbours, too: for a sandbox.
    public var allowsPrivateWebhooks: Bool
    /// The header in which the proxy in front of this server tells from where a request comes, such
    /// as `X-Forwarded-For`; nil: only a proxy on this machine is believed, in that very header.
    public var clientAddressHeader: String?

    public init(
        secretKey: String,
        publishableKey: String,
        publicURL: String,
        appURL: String? = nil,
        portalReturnURL: String? = nil,
        stripeWebhookSecrets: [String] = [],
        appleAppIDs: [String] = [],
        appsOfKeys: [String: String] = [:],
        defaultEnvironment: StoreEnvironment,
        sessionLifetime: Int64 = 1800,
        formerSecretKeys: [String] = [],
        formerPublishableKeys: [String] = [],
        allowsPrivateWebhooks: Bool = false
    ) {
        self.secretKey = secretKey
        self.formerSecretKeys = formerSecretKeys
        self.publishableKey = publishableKey
        self.formerPublishableKeys = formerPublishableKeys
        self.publicURL = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        self.appURL = appURL
        self.portalReturnURL = portalReturnURL
        self.stripeWebhookSecrets = stripeWebhookSecrets
        self.appleAppIDs = appleAppIDs
        self.appsOfKeys = appsOfKeys
        self.defaultEnvironment = defaultEnvironment
        reportedEnvironment = defaultEnvironment
        self.sessionLifetime = sessionLifetime
        self.allowsPrivateWebhooks = allowsPrivateWebhooks
    }
}

extension Configuration {
    /// Whether `key` is the secret key, or one that still counts.
    ///
    /// Looks at every byte, so that the time it takes tells nothing but the length.
    public func isSecretKey(_ key: String) -> Bool {
        Self.isAny(key, of: secretKey, formerSecretKeys)
    }

    /// The same for the publishable key.
    public func isPublishableKey(_ key: String) -> Bool {
        Self.isAny(key, of: publishableKey, formerPublishableKeys)
    }

    private static func isAny(_ key: String, of first: String, _ rest: [String]) -> Bool {
        var isFound = areEqual(key, first)
        for other in rest where areEqual(key, other) { isFound = true }
        return isFound
    }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(left.utf8, right.utf8) { difference |= left ^ right }
        return difference == 0
    }
}
