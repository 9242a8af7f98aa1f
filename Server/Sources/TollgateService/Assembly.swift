internal import Stores
internal import Logging
internal import Storage
internal import TollgateCore

/// Builds each feature from what the application was handed in.
struct Assembly {
    let configuration: Configuration
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let leases: Leases
    let sealing: SealingKeys
    let signer: AnswerSigner
    let counters: Counters
    let workAges: WorkAges
    /// The apps in the App Store; empty where none is configured.
    let bundleIDs: [String]
    let connectors: [any StoreConnector]
    let webhooks: WebhookTransport?
    let openID: OpenIDClient?
    let logger: Logger

    var directory: CustomerDirectory {
        CustomerDirectory(records: records)
    }

    var customers: Customers {
        Customers(
            records: records,
            clocks: clocks,
            random: random,
            directory: directory,
            names: CustomerNames(
                records: records,
                random: random,
                secretKey: configuration.secretKey
            )
        )
    }

    var sessions: Sessions {
        Sessions(
            records: records.sessions,
            clocks: clocks,
            random: random,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment,
            lifetime: configuration.sessionLifetime
        )
    }

    var entitlements: Entitlements {
        Entitlements(
            records: records,
            clocks: clocks,
            directory: directory,
            signer: signer,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var explanations: Explanations {
        Explanations(
            records: records,
            clocks: clocks,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var grants: Grants {
        Grants(
            records: records,
            clocks: clocks,
            random: random,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var coins: Coins {
        Coins(
            records: records,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var purchases: Purchases {
        Purchases(records: records, clocks: clocks, directory: directory)
    }

    var freeSubscriptions: FreeSubscriptions {
        FreeSubscriptions(
            records: records,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var consents: Consents {
        Consents(records: records, clocks: clocks, random: random)
    }

    var publishedCatalog: PublishedCatalog {
        PublishedCatalog(records: records, clocks: clocks, signer: signer)
    }

    var buyButtons: BuyButtons {
        BuyButtons(records: records, publicURL: configuration.publicURL)
    }

    var replies: IdempotentReplies {
        IdempotentReplies(
            records: records.replies,
            clocks: clocks,
            sealing: sealing,
            logger: logger
        )
    }

    var auditLog: AuditLog {
        AuditLog(records: records.audit, clocks: clocks, logger: logger)
    }

    var secretKeys: SecretKeys {
        SecretKeys(
            records: records.secretKeys,
            clocks: clocks,
            random: random,
            auditLog: auditLog,
            logger: logger,
            prefix: configuration.secretKey.hasPrefix("sk_live_") ? "sk_live_" : "sk_test_"
        )
    }

    var signingKeys: SigningKeys {
        SigningKeys(
            signer: signer,
            clocks: clocks,
            auditLog: auditLog,
            logger: logger
        )
    }

    var events: Events {
        Events(records: records, clocks: clocks, leases: leases, logger: logger)
    }

    var deliveryLog: DeliveryLog {
        DeliveryLog(records: records)
    }

    var webhookEndpoints: WebhookEndpoints {
        WebhookEndpoints(
            records: records,
            log: deliveryLog,
            clocks: clocks,
            random: random,
            sealing: sealing,
            allowsPrivate: configuration.allowsPrivateWebhooks
        )
    }

    var webhookDeliveries: WebhookDeliveries {
        WebhookDeliveries(
            records: records,
            clocks: clocks,
            random: random,
            leases: leases,
            endpoints: webhookEndpoints,
            transport: webhooks,
            counters: counters,
            logger: logger
        )
    }

    var staff: Staff {
        Staff(records: records.staff, clocks: clocks)
    }

    var limits: SignInLimits {
        SignInLimits(records: records.staff, clocks: clocks, random: random, sealing: sealing)
    }

    var passwords: Passwords {
        Passwords(
            records: records.staff,
            random: random,
            staff: staff,
            limits: limits,
            rounds: configuration.passwordRounds
        )
    }

    var secondFactors: SecondFactors {
        SecondFactors(
            records: records.staff,
            clocks: clocks,
            random: random,
            sealing: sealing,
            staff: staff,
            limits: limits,
            passwords: passwords,
            publicURL: configuration.publicURL,
            logger: logger
        )
    }

    var signIns: SignIns {
        SignIns(
            records: records.staff,
            clocks: clocks,
            random: random,
            staff: staff,
            limits: limits,
            passwords: passwords,
            secondFactors: secondFactors,
            publicURL: configuration.publicURL
        )
    }

    var openIDSignIn: OpenIDSignIn {
        OpenIDSignIn(
            records: records.staff,
            clocks: clocks,
            random: random,
            openID: openID,
            sealing: sealing,
            staff: staff,
            signIns: signIns,
            auditLog: auditLog,
            publicURL: configuration.publicURL,
            logger: logger
        )
    }

    var customerFiles: CustomerFiles {
        CustomerFiles(
            records: records,
            clocks: clocks,
            directory: directory,
            bundleIDs: bundleIDs,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    var figures: Figures {
        Figures(records: records, clocks: clocks, leases: leases, rows: connectors.map(\.rows))
    }

    var reporting: Reporting {
        Reporting(
            records: records,
            clocks: clocks,
            figures: figures,
            defaultEnvironment: configuration.defaultEnvironment,
            books: connectors.map(\.books)
        )
    }

    var accounts: Accounts {
        Accounts(
            records: records,
            clocks: clocks,
            leases: leases,
            figures: figures,
            books: connectors.map(\.books),
            defaultEnvironment: configuration.defaultEnvironment,
            reportedEnvironment: configuration.reportedEnvironment,
            logger: logger
        )
    }

    var journalExport: JournalExport {
        JournalExport(records: records)
    }

    var accessChecks: AccessChecks {
        AccessChecks(records: records, clocks: clocks, leases: leases, logger: logger)
    }

    var metrics: Metrics {
        Metrics(
            records: records,
            clocks: clocks,
            counters: counters,
            workAges: workAges,
            accessChecks: accessChecks,
            logger: logger
        )
    }
}
