public import Foundation

extension SimulatedAppStore {
    /// How one simulated App Store is set up: one app, in one environment.
    public struct Configuration: Sendable {
        /// Which of Apple's environments is played; each has its own retry rules and windows.
        public var environment: Environment
        /// The app's bundle id, stated in every signed object.
        public var bundleID: String
        /// The app's Apple id, stated in production only.
        public var appAppleID: Int64
        /// What the app sells.
        public var products: [Product]
        /// Where App Store Server Notifications V2 are posted; without one none are sent.
        public var notificationURL: String?
        /// Decides every id: the same seed and the same actions give the same ids.
        public var seed: UInt64
        /// How long a period lasts, and how often it renews by itself.
        public var renewals: Renewals
        /// Automatic renewals of one subscription, then it ends; `nil` for no limit.
        public var renewalLimit: Int?
        /// Days of billing grace (3, 16 or 28; weekly plans get at most 6); `nil` when the app has
        /// not opted in.
        public var graceDays: Int?
        /// Milliseconds before a period's end at which its renewal is charged and announced.
        public var renewalLead: Int64
        /// The switches for behaviour of the store that its documentation leaves open.
        public var behaviour: Behaviour
        /// Named in the certificates as their OCSP responder; `nil` leaves the extension out.
        public var ocspURL: String?
        /// A file that holds the whole state between runs, keys included; `nil` keeps it in memory.
        public var statePath: String?
        /// Milliseconds of real time that a subscriber has to answer a notification.
        public var deliveryTimeout: Int64
        /// Milliseconds of real time that the app has to answer a realtime request for a retention
        /// message.
        public var realtimeLimit: Int64
        /// The certificates and keys to sign with, as `makeAuthority` made them; `nil` makes new
        /// ones.
        ///
        /// Stores that share them need one trusted root between them.
        public var authority: Data?
        /// Told the whole story so far after each thing that is done to the store.
        public var onDeed: (@Sendable (Story) -> Void)?
        /// What goes wrong on the way to the subscriber.
        public var faults: Faults
        /// What faults are drawn from; `nil`: from `seed`, like all ids.
        public var faultSeed: UInt64?
        /// Whether calls beyond Apple's rate limits get 429, by real time.
        public var enforcesRateLimits: Bool

        /// A store with true durations in production or Apple's compressed ones in the sandbox.
        public init(
            environment: Environment = .sandbox,
            bundleID: String = "com.example.app",
            appAppleID: Int64 = 1_234_567_890,
            products: [Product] = [],
            notificationURL: String? = nil,
            seed: UInt64 = 1,
            renewals: Renewals? = nil,
            renewalLimit: Int? = nil,
            graceDays: Int? = 16,
            renewalLead: Int64 = 0,
            behaviour: Behaviour = Behaviour(),
            ocspURL: String? = nil,
            statePath: String? = nil,
            deliveryTimeout: Int64 = 10_000,
            authority: Data? = nil,
            faults: Faults = Faults(),
            enforcesRateLimits: Bool = false,
            realtimeLimit: Int64 = 700
        ) {
            self.environment = environment
            self.bundleID = bundleID
            self.appAppleID = appAppleID
            self.products = products
            self.notificationURL = notificationURL
            self.seed = seed
            self.renewals =
                renewals ?? (environment == .sandbox ? .compressed(.everyFiveMinutes) : .real)
            self.renewalLimit = renewalLimit
            self.graceDays = graceDays
            self.renewalLead = renewalLead
            self.behaviour = behaviour
            self.ocspURL = ocspURL
            self.statePath = statePath
            self.deliveryTimeout = deliveryTimeout
            self.authority = authority
            self.faults = faults
            self.enforcesRateLimits = enforcesRateLimits
            self.realtimeLimit = realtimeLimit
        }
    }

    /// Apple's environments, as spelled in signed objects.
    public enum Environment: String, Codable, Sendable, CaseIterable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    /// One setting for each thing the store's documentation leaves open.
    public struct Behaviour: Codable, Hashable, Sendable {
        /// An upgrade also refunds the replaced period by a REFUND notification.
        public var upgradeSendsRefund = false
        /// A purchase after a lapse continues the group's original transaction id.
        public var resubscribeKeepsOriginalTransactionID = true
        /// A reversed refund removes the revocation's fields from later statements.
        public var reversalClearsRevocation = true
        /// An extension moves the transaction's own `expiresDate`, not only the renewal date.
        public var extensionMovesExpiresDate = true
        /// A recovery within grace dates its purchase at the charge, not at the period's start.
        public var graceRecoveryStartsAtCharge = true

        /// A restore on another device makes new transaction ids for the same periods.
        public var restoreMakesNewTransactionIDs = false
        /// A promotional offer is redeemed only with a signature of the app's server, as Apple does;
        /// a backend under test that issues none can be spared it.
        public var requiresOfferSignatures = false
        /// A CONSUMPTION_REQUEST that nobody answers is sent again within its twelve hours, under
        /// another UUID.
        public var repeatsConsumptionRequests = true
        /// Seats that are added to a running period have its `webOrderLineItemId`.
        public var addedSeatsShareLineItem = false
        /// A legacy receipt dates an upgrade by `cancellation_date` beside `is_upgraded`.
        public var receiptsDateUpgrades = false

        enum CodingKeys: String, CodingKey {
            case restoreMakesNewTransactionIDs = "restore_makes_new_transaction_ids"
            case requiresOfferSignatures = "requires_offer_signatures"
            case repeatsConsumptionRequests = "repeats_consumption_requests"
            case addedSeatsShareLineItem = "added_seats_share_line_item"
            case receiptsDateUpgrades = "receipts_date_upgrades"
            case upgradeSendsRefund = "upgrade_sends_refund"
            case resubscribeKeepsOriginalTransactionID =
                "resubscribe_keeps_original_transaction_id"
            case reversalClearsRevocation = "reversal_clears_revocation"
            case extensionMovesExpiresDate = "extension_moves_expires_date"
            case graceRecoveryStartsAtCharge = "grace_recovery_starts_at_charge"
        }

        /// The behaviour taken as most likely.
        public init() {}

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            func read(_ key: CodingKeys, _ likely: Bool) throws -> Bool {
                try values.decodeIfPresent(Bool.self, forKey: key) ?? likely
            }
            upgradeSendsRefund = try read(.upgradeSendsRefund, false)
            resubscribeKeepsOriginalTransactionID = try read(
                .resubscribeKeepsOriginalTransactionID,
                true
            )
            reversalClearsRevocation = try read(.reversalClearsRevocation, true)
            extensionMovesExpiresDate = try read(.extensionMovesExpiresDate, true)
            restoreMakesNewTransactionIDs = try read(.restoreMakesNewTransactionIDs, false)
            requiresOfferSignatures = try read(.requiresOfferSignatures, false)
            repeatsConsumptionRequests = try read(.repeatsConsumptionRequests, true)
            graceRecoveryStartsAtCharge = try read(.graceRecoveryStartsAtCharge, true)
            addedSeatsShareLineItem = try read(.addedSeatsShareLineItem, false)
            receiptsDateUpgrades = try read(.receiptsDateUpgrades, false)
        }
    }
}
