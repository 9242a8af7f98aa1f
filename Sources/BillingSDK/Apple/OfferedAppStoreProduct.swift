#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// A product of an offering as the App Store sells it to the customer of this device.
    public struct OfferedAppStoreProduct: Hashable, Sendable, Identifiable {
        /// The product as the catalog has it.
        public let offered: OfferedProduct
        /// The product as StoreKit has it.
        public let product: Product
        /// The introductory offer, where the customer may have it.
        public let introductoryOffer: Product.SubscriptionOffer?
        /// The win-back offer that is best for the customer, where they may have one (iOS 18, macOS 15);
        /// `purchase(_:)` applies it.
        public let winBackOffer: Product.SubscriptionOffer?

        /// Its id in the catalog.
        public var id: String { offered.id }

        /// The App Store's price with the time that it is for, such as `¥1,500 a month`; the price alone
        /// for what is paid once.
        ///
        /// App Review wants both to be seen where a subscription is sold.
        public func formattedPriceAndPeriod(locale: Locale = .current) -> String {
            price(product.displayPrice, each: product.subscription?.subscriptionPeriod, locale)
        }

        /// What the customer pays at first and then, such as `7 days free, then ¥1,500 a month`; `nil`
        /// without an offer that they may have.
        public func formattedOffer(locale: Locale = .current) -> String? {
            guard let offer = winBackOffer ?? introductoryOffer else { return nil }
            let texts = Texts(locale)
            let (unit, value) = offer.period.unitAndValue
            let length = PriceText.duration(value * offer.periodCount, unit, texts)
            let then = formattedPriceAndPeriod(locale: locale)
            switch offer.paymentMode {
            case .freeTrial: return texts(.offeringFree, length, then)
            case .payAsYouGo:
                let reduced = price(offer.displayPrice, each: offer.period, locale)
                return texts(.offeringReduced, reduced, length, then)
            default: return texts(.offeringReduced, offer.displayPrice, length, then)
            }
        }

        private func price(
            _ price: String,
            each period: Product.SubscriptionPeriod?,
            _ locale: Locale
        ) -> String {
            guard let (unit, value) = period?.unitAndValue else { return price }
            return PriceText.price(price, each: unit, count: value, Texts(locale))
        }
    }

    extension OfferedAppStoreProduct {
        /// What of `offered` is among StoreKit's `products`, with the offers that the customer may have.
        fileprivate static func all(
            _ offered: [OfferedProduct],
            _ products: [Product]
        ) async -> [OfferedAppStoreProduct] {
            var found: [OfferedAppStoreProduct] = []
            for offered in offered {
                guard let product = products.first(where: { $0.id == offered.appStoreProductID })
                else { continue }
                let isNew = await product.subscription?.isEligibleForIntroOffer ?? false
                found.append(
                    OfferedAppStoreProduct(
                        offered: offered,
                        product: product,
                        introductoryOffer: isNew ? product.subscription?.introductoryOffer : nil,
                        winBackOffer: await product.bestWinBackOffer
                    )
                )
            }
            return found
        }
    }

    extension Product.SubscriptionPeriod {
        /// The unit in the catalog's words; seven days are a week, as App Store Connect calls them.
        fileprivate var unitAndValue: (unit: String, value: Int) {
            switch unit {
            case .day: value % 7 == 0 ? ("week", value / 7) : ("day", value)
            case .week: ("week", value)
            case .month: ("month", value)
            case .year: ("year", value)
            @unknown default: ("", value)
            }
        }
    }

    extension BillingSDK {
        /// The products of `offering` that the App Store sells on this device, in the offering's order, with
        /// the offers that the customer may have.
        ///
        /// - Throws: StoreKit's errors, as ``getAppStoreProducts(ids:)``.
        public func getAppStoreProducts(
            of offering: Offering
        ) async throws -> [OfferedAppStoreProduct] {
            let offered = offering.products.filter { $0.appStoreProductID != nil }
            let products = try await getAppStoreProducts(
                ids: offered.compactMap(\.appStoreProductID)
            )
            return await OfferedAppStoreProduct.all(offered, products)
        }

        /// Buys what is offered, with the win-back offer that the customer may have.
        ///
        /// The App Store applies an introductory offer by itself.
        /// - Throws: as ``purchase(_:options:)``.
        @MainActor
        public func purchase(_ offered: OfferedAppStoreProduct) async throws -> AppStorePurchase {
            try await charge(offered).get()
        }

        @MainActor
        func charge(_ offered: OfferedAppStoreProduct) async throws -> ChargedPurchase {
            var options: Set<Product.PurchaseOption> = []
            if #available(iOS 18, macOS 15, macCatalyst 18, *), let offer = offered.winBackOffer {
                options.insert(.winBackOffer(offer))
            }
            return try await charge(offered.product, options)
        }
    }

    extension Product {
        /// The first of the win-back offers that the App Store says the customer may have, which is the
        /// best.
        ///
        /// <https://developer.apple.com/documentation/storekit/product/subscriptioninfo/renewalinfo/eligiblewinbackofferids>
        fileprivate var bestWinBackOffer: Product.SubscriptionOffer? {
            get async {
                guard #available(iOS 18, macOS 15, macCatalyst 18, *), let subscription,
                    !subscription.winBackOffers.isEmpty,
                    let statuses = try? await Product.SubscriptionInfo.status(
                        for: subscription.subscriptionGroupID
                    )
                else { return nil }
                for status in statuses {
                    guard case .verified(let renewal) = status.renewalInfo else { continue }
                    for id in renewal.eligibleWinBackOfferIDs {
                        let offer = subscription.winBackOffers.first { $0.id == id }
                        if let offer { return offer }
                    }
                }
                return nil
            }
        }
    }
#endif
