import Foundation

/// A purchase that was begun outside the app and waits inside it.
public struct PendingPurchase: Codable, Hashable, Identifiable, Sendable {
    /// The place where it began.
    public enum Origin: String, Codable, Hashable, Sendable, CaseIterable {
        /// On the app's page in the App Store, seen by StoreKit 1.
        case promotedPayment
        /// On the app's page in the App Store or by a link, seen by StoreKit 2.
        case purchaseIntent
        /// With an offer or promotion code.
        case code
        /// On a checkout page that leads back into the app.
        case checkoutReturn
    }

    /// The kind of product, as the gates distinguish it.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Renews by itself.
        case subscription
        /// Is paid once.
        case oneOff
    }

    /// Made when it arrived.
    public let id: UUID
    /// The App Store product's id.
    public let productID: String
    /// The quantity; 1 unless the App Store states another.
    public let quantity: Int
    /// Decides which gates it must pass; nil: not known yet, so it must pass all.
    public let kind: Kind?
    /// The place where it began.
    public let origin: Origin
    /// By the device's clock.
    public let receivedAt: Date
    /// The store's id, if it began there already: that of a Checkout Session or of a
    /// transaction's.
    public let reference: String?
    /// The win-back offer with which it was begun, by its id in App Store Connect; bought with it.
    public internal(set) var winBackOfferID: String?
    /// Since when somebody has to approve it (Ask to Buy); `nil` for others.
    var approvalAskedAt: Date?
    /// `true` if the customer has put it off.
    public internal(set) var isPostponed = false
    /// `true` if it is under way at the store already: it is not to be bought again, it leaves the
    /// inbox by itself when the server has it.
    public internal(set) var isUnderWay = false

    init(
        id: UUID,
        productID: String,
        quantity: Int,
        kind: Kind?,
        origin: Origin,
        receivedAt: Date,
        reference: String? = nil,
        isUnderWay: Bool = false
    ) {
        self.id = id
        self.productID = productID
        self.quantity = quantity
        self.kind = kind
        self.origin = origin
        self.receivedAt = receivedAt
        self.reference = reference
        self.isUnderWay = isUnderWay
    }

    /// Reads what this or an earlier version of the app wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        productID = try values.decode(String.self, forKey: .productID)
        quantity = try values.decode(Int.self, forKey: .quantity)
        kind = try values.decodeIfPresent(Kind.self, forKey: .kind)
        origin = try values.decode(Origin.self, forKey: .origin)
        receivedAt = try values.decode(Date.self, forKey: .receivedAt)
        reference = try values.decodeIfPresent(String.self, forKey: .reference)
        isPostponed = try values.decodeIfPresent(Bool.self, forKey: .isPostponed) ?? false
        isUnderWay = try values.decodeIfPresent(Bool.self, forKey: .isUnderWay) ?? false
        winBackOfferID = try values.decodeIfPresent(String.self, forKey: .winBackOfferID)
        approvalAskedAt = try values.decodeIfPresent(Date.self, forKey: .approvalAskedAt)
    }
}
