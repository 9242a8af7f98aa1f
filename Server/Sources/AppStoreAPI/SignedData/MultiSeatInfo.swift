internal import StrictJSON

extension AppStore {
    /// The seats of a transaction that was bought as a multiseat purchase:
    /// [`TransactionMultiSeatInfo`](https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo),
    /// since API 1.23.
    ///
    /// Read leniently: what is of another type than documented counts as absent.
    public struct MultiSeatInfo: Hashable, Sendable {
        /// Seats at one price.
        public struct PriceTier: Hashable, Sendable {
            /// The price per seat, in milliunits.
            public let price: Int64
            /// How many seats have it.
            public let quantity: Int64
        }

        /// Who invites to the seats: `APPLE` or `DEVELOPER`.
        public let invitationManagement: String?
        /// The seats by their price, in no order; none where one of them cannot be read.
        public let priceTiers: [PriceTier]
        /// How many seats were refunded while the transaction stays valid.
        public let revokedSeatQuantity: Int?

        init?(_ json: JSON?) {
            guard let json, json.kind == .object else { return nil }
            invitationManagement = json["invitationManagement"]?.string
            revokedSeatQuantity = json["revokedSeatQuantity"]?.int
            var tiers: [PriceTier] = []
            var isReadable = true
            for tier in json["priceTiers"].map({ Array($0.elements) }) ?? [] {
                if let price = tier["price"]?.int64, let quantity = tier["quantity"]?.int64 {
                    tiers.append(PriceTier(price: price, quantity: quantity))
                } else {
                    isReadable = false
                }
            }
            priceTiers = isReadable ? tiers : []
        }
    }
}
