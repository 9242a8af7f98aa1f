public import StrictJSON

extension GooglePlay {
    /// `ExternalTransaction`: a sale outside Google Play's billing that was reported to Google.
    public struct ExternalTransaction: Hashable, Sendable {
        /// 1 to 63 letters, digits, `-` and `_`.
        public let id: String
        public let state: State?
        /// The price without tax that is left after refunds.
        public let currentPreTax: Price?
        /// `true` where a licence tester bought.
        public let isTest: Bool

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "ExternalTransaction")
            id = try fields.string("externalTransactionId")
            state = try fields.word("transactionState")
            currentPreTax = try fields.optional("currentPreTaxAmount") {
                price throws(DecodingError) in try Price(price)
            }
            isTest = fields.has("testPurchase")
        }

        /// `transactionState`.
        public struct State: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let reported = Self(rawValue: "TRANSACTION_REPORTED")
            /// Refunded as a whole.
            public static let canceled = Self(rawValue: "TRANSACTION_CANCELED")
        }
    }

    /// The body of `externaltransactions.createexternaltransaction`.
    public struct ExternalTransactionReport: Hashable, Sendable {
        public var id: String
        /// The price without tax; 0 for a free trial.
        public var preTax: Price
        public var tax: Price
        /// UNIX milliseconds.
        public var time: Int64
        public var kind: Kind
        /// The buyer's country, ISO 3166-1 alpha-2.
        public var region: String
        /// The state or territory, for buyers in India.
        public var administrativeArea: String?
        /// `externalOfferDetails` or `externalContentLinkDetails`.
        public var link: Link?

        /// The link that led out of the app.
        public struct Link: Hashable, Sendable {
            /// Of the program for external offers; else of the one for content links.
            public var isOffer: Bool
            /// It leads to the download of an app, or to a digital offer; `nil`: not stated.
            public var isDownload: Bool?
            /// `installedAppPackage`.
            public var package: String?
            /// The downloaded app is a game; `nil`: not stated.
            public var isGame: Bool?
            /// `appDownloadEventExternalTransactionId`, of external offers only.
            public var download: String?

            public init(
                isOffer: Bool,
                isDownload: Bool?,
                package: String? = nil,
                isGame: Bool? = nil,
                download: String? = nil
            ) {
                (self.isOffer, self.isDownload) = (isOffer, isDownload)
                (self.package, self.isGame, self.download) = (package, isGame, download)
            }

            fileprivate var json: (String, JSONText?) {
                let type = isDownload.map {
                    JSONText.string($0 ? "LINK_TO_APP_DOWNLOAD" : "LINK_TO_DIGITAL_CONTENT_OFFER")
                }
                let category = isGame.map { JSONText.string($0 ? "GAME" : "APP") }
                return (
                    isOffer ? "externalOfferDetails" : "externalContentLinkDetails",
                    .object([
                        ("linkType", type),
                        ("installedAppPackage", package.map(JSONText.string)),
                        (isOffer ? "installedAppCategory" : "externalAppCategory", category),
                        (
                            "appDownloadEventExternalTransactionId",
                            isOffer ? download.map(JSONText.string) : nil
                        ),
                    ])
                )
            }
        }

        /// The purchase that a payment belongs to.
        public enum Kind: Hashable, Sendable {
            /// Something that is bought once, with the token of Play Billing.
            case oneTime(token: String)
            /// The first payment of a subscription, with the token of Play Billing.
            case subscription(token: String)
            /// A later payment of the subscription whose first one has this id.
            case renewal(of: String)
        }

        public init(
            id: String,
            preTax: Price,
            tax: Price,
            time: Int64,
            kind: Kind,
            region: String,
            administrativeArea: String? = nil,
            link: Link? = nil
        ) {
            self.link = link
            (self.id, self.preTax, self.tax, self.time) = (id, preTax, tax, time)
            (self.kind, self.region) = (kind, region)
            self.administrativeArea = administrativeArea
        }

        var json: JSONText {
            let recurring = JSONText.object([("subscriptionType", .string("RECURRING"))])
            let purchase: (String, JSONText?) =
                switch kind {
                case .oneTime(let token):
                    (
                        "oneTimeTransaction",
                        JSONText.object([("externalTransactionToken", .string(token))])
                    )
                case .subscription(let token):
                    (
                        "recurringTransaction",
                        JSONText.object([
                            ("externalTransactionToken", .string(token)),
                            ("externalSubscription", recurring),
                        ])
                    )
                case .renewal(let first):
                    (
                        "recurringTransaction",
                        JSONText.object([
                            ("initialExternalTransactionId", .string(first)),
                            ("externalSubscription", recurring),
                        ])
                    )
                }
            return .object([
                ("originalPreTaxAmount", preTax.json), ("originalTaxAmount", tax.json),
                ("transactionTime", .string(Timestamp.text(of: time))), purchase,
                (
                    "userTaxAddress",
                    .object([
                        ("regionCode", .string(region)),
                        ("administrativeArea", administrativeArea.map(JSONText.string)),
                    ])
                ), link?.json ?? ("externalOfferDetails", nil),
            ])
        }
    }

    /// The body of `externaltransactions.refundexternaltransaction`.
    public struct ExternalTransactionRefund: Hashable, Sendable {
        /// UNIX milliseconds.
        public var time: Int64
        /// A part of the price without tax, under an id of its own; `nil`: all that is left.
        public var part: Part?

        /// A refund of a part.
        public struct Part: Hashable, Sendable {
            public var id: String
            public var preTax: Price

            public init(id: String, preTax: Price) { (self.id, self.preTax) = (id, preTax) }
        }

        public init(time: Int64, part: Part? = nil) { (self.time, self.part) = (time, part) }

        var json: JSONText {
            let partial = part.map { part in
                JSONText.object([
                    ("refundId", .string(part.id)), ("refundPreTaxAmount", part.preTax.json),
                ])
            }
            return .object([
                ("refundTime", .string(Timestamp.text(of: time))),
                ("fullRefund", part == nil ? JSONText.object([]) : nil), ("partialRefund", partial),
            ])
        }
    }
}

extension GooglePlay.Price {
    fileprivate var json: JSONText {
        .object([("priceMicros", .string("\(micros)")), ("currency", .string(currency))])
    }
}
