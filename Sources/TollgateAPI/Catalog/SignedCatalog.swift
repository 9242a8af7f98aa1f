import Foundation
public import TollgateCore

extension API {
    /// The claims of a signed slice of the catalog (RULES §15): what the App Store's products grant.
    ///
    /// With it a device that never had an answer can run the engine over StoreKit's entitlements. It
    /// holds no prices and nothing of Stripe.
    public struct SignedCatalog: Hashable, Codable, Sendable {
        /// The `aud` of every slice, so that none is taken for an answer about a customer.
        public static let audience = "tollgate.catalog"

        public var aud: String
        /// To which app it was given, where there are several: one of its publishable keys.
        public var azp: String?
        /// Real time of signing, seconds since 1970.
        public var iat: Int64
        /// Real time after which it must not be trusted any more, seconds since 1970.
        public var exp: Int64
        /// How long access goes on past the end of an App Store period that should renew, in
        /// milliseconds.
        public var renewalLeeway: Int64
        public var products: [Product]
        /// What people read, by lookup key.
        public var names: [String: String]

        /// The slice of `catalog`.
        ///
        /// - Parameters:
        ///   - app: what this app sells; `nil`: what the first or only one does.
        ///   - azp: to which app it is given.
        public init(
            _ catalog: Catalog,
            of app: Catalog.App? = nil,
            azp: String? = nil,
            iat: Int64,
            exp: Int64
        ) {
            aud = Self.audience
            self.azp = azp
            self.iat = iat
            self.exp = exp
            renewalLeeway = catalog.renewalLeeway.appStore
            let app = (app ?? catalog.apps.first)?.id
            products = catalog.products.compactMap { Product($0, in: app) }
            names = Dictionary(
                catalog.entitlements.map { ($0.lookupKey, $0.name) },
                uniquingKeysWith: { first, _ in first }
            )
        }

        private enum CodingKeys: String, CodingKey {
            case aud, azp, iat, exp, products, names
            case renewalLeeway = "renewal_leeway"
        }

        /// A product that the App Store sells.
        public struct Product: Hashable, Codable, Sendable {
            public var id: String
            public var appStoreProductID: String
            public var kind: Catalog.Product.Kind
            /// Lookup keys.
            public var entitlements: [String]
            /// How long a non-renewing purchase lasts.
            public var duration: CalendarDuration?

            /// Nil for what the App Store does not sell in the app.
            init?(_ product: Catalog.Product, in app: String?) {
                guard let appStoreProductID = product.appStoreProductID(in: app) else {
                    return nil
                }
                id = product.id
                self.appStoreProductID = appStoreProductID
                kind = product.kind
                entitlements = product.entitlements
                duration = product.duration
            }

            private enum CodingKeys: String, CodingKey {
                case id, kind, entitlements, duration
                case appStoreProductID = "app_store_product_id"
            }
        }

        /// A catalog as far as the engine needs it for App Store purchases.
        public var catalog: Catalog {
            Catalog(
                entitlements: names.sorted { $0.key < $1.key }.map {
                    Catalog.Entitlement(lookupKey: $0.key, name: $0.value)
                },
                products: products.map {
                    Catalog.Product(
                        id: $0.id,
                        name: $0.id,
                        kind: $0.kind,
                        appStoreProductID: $0.appStoreProductID,
                        entitlements: $0.entitlements,
                        duration: $0.duration
                    )
                },
                renewalLeeway: Catalog.RenewalLeeway(appStore: renewalLeeway)
            )
        }
    }
}
