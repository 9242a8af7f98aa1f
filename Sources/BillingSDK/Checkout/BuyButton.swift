import Foundation

/// Something that can be bought, with all that is needed to draw it.
public final class BuyButton: Identifiable, Sendable {
    /// What the buyer pays.
    public struct LineItemGroup: Hashable, Codable, Sendable {
        /// In the currency's minor unit, as a decimal string: `"1500"`.
        public let amountTotal: String
        /// ISO 4217, lower case.
        public let currency: String

        /// The same as ``amountTotal``, as Stripe's SDK spells it.
        public var amount_total: String { amountTotal }
    }

    /// What the buyer gets.
    public struct Product: Hashable, Codable, Sendable, Identifiable {
        /// Its id in the catalog.
        public let id: String
        /// Its name.
        public let name: String
        /// Its id in the App Store, where it is sold there too.
        public let appStoreProductID: String?
        /// `month`, `year` and so on between payments; nil if it is paid once.
        public let interval: String?
        /// The number of intervals between payments: 3 with `month` is a quarter; `nil` is 1.
        public let intervalCount: Int?
    }

    /// `buy_btn_…`.
    public let id: String
    /// `true` if it can be bought now.
    public let active: Bool
    /// The label from the catalog; nil: the app's own.
    public let callToAction: String?
    /// A page where anybody can buy it; prefer ``checkout()``, which knows the customer.
    ///
    /// What is bought by this address belongs to nobody until your staff assigns it.
    public let checkoutUrl: String
    /// What the buyer pays.
    public let lineItemGroup: LineItemGroup
    /// What the buyer gets.
    public let product: Product

    let client: BillingClient

    init(
        id: String,
        active: Bool,
        callToAction: String?,
        checkoutUrl: String,
        lineItemGroup: LineItemGroup,
        product: Product,
        client: BillingClient
    ) {
        self.id = id
        self.active = active
        self.callToAction = callToAction
        self.checkoutUrl = checkoutUrl
        self.lineItemGroup = lineItemGroup
        self.product = product
        self.client = client
    }

    /// Starts a purchase and returns the page on which it is made.
    ///
    /// For the customer who is signed in; where nobody is, for who signs in next on this device, who claims
    /// it by a secret that only this device has. A provider that fails is not taken for "nobody": the
    /// call throws, and nothing is bought for nobody by mistake.
    /// - Throws: ``BillingSDKError/customerSessionProviderFailed(_:)`` and
    ///   ``BillingSDKError/sessionRejected(_:)`` where it is not known for whom;
    ///   ``BillingSDKError/notFound(_:)`` where the button is gone;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` where it may not be bought now:
    ///   code `already_active` where the customer has it already;
    ///   ``BillingSDKError/notPermitted(code:message:)`` where the session was made without buy
    ///   buttons, and with `storefront_unsupported` where Checkout is not offered in the country of the
    ///   customer's App Store account; ``BillingSDKError/networkUnavailable(_:)`` and
    ///   ``BillingSDKError/serverUnavailable(status:message:)`` where there is no answer. Nothing was
    ///   bought then.
    public func checkout() async throws -> URL {
        try await Checkouts(client: client).checkout(of: self)
    }

    /// The price for reading, such as `¥1,500`, in `locale`; nil if the amount cannot be read.
    public func formattedPrice(locale: Locale = .current) -> String? {
        guard let minor = Decimal(string: lineItemGroup.amountTotal) else { return nil }
        return PriceText.price(minor: minor, currency: lineItemGroup.currency, locale: locale)
    }

    /// The price with the time that it is for, such as `¥1,500 a month`, in the language of `locale`; the
    /// price alone for what is paid once, nil if the amount cannot be read.
    ///
    /// App Review wants both to be seen where a subscription is sold.
    public func formattedPriceAndPeriod(locale: Locale = .current) -> String? {
        guard let price = formattedPrice(locale: locale) else { return nil }
        return PriceText.price(
            price,
            each: product.interval,
            count: product.intervalCount,
            Texts(locale)
        )
    }
}
