public import AppStoreSimulator
import Foundation
import GooglePlaySimulator
import SandboxClock
public import StripeSimulator
public import TollgateCore

/// The stores of a story on one clock, telling whoever listens.
struct ScenarioWorld: Sendable {
    static let bundleID = "com.example.app"
    static let appAppleID: Int64 = 1_234_567_890
    static let stripeKey = "sk_test_sandbox"
    static let webhookSecret = "whsec_scenario"
    /// Listeners are told in process, whatever the address.
    private static let webhookURL = "https://backend.test/webhooks"
    /// Real time as signatures have it, in UNIX seconds: far from every story, so that nothing
    /// takes one clock for the other.
    static let wall = 1_900_000_000

    let clock: VirtualClock
    let appStore: SimulatedAppStore
    let stripe: StripeSimulator
    /// `nil` where the story does not speak of it.
    let googlePlay: SimulatedGooglePlay?

    /// Where messages go.
    struct Ears: Sendable {
        var notification: SimulatedAppStore.Deliver
        var event: StripeSimulator.Configuration.Deliver
        var hint: SimulatedGooglePlay.Deliver = { _ in true }
    }

    /// - Parameters:
    ///   - start: the first present, in UNIX milliseconds.
    ///   - authority: what the App Store signs with.
    ///   - seed: from which all ids are drawn.
    ///   - webhookSecret: what Stripe signs with, in real time; `nil`: with our own, at a fixed time.
    ///   - stripeEvents: the types that Stripe's endpoint listens to; `nil`: all.
    ///   - package: the app's name in Google Play.
    ///   - wallIsVirtual: whether real time is the story's, as it is outside of a sandbox.
    init(
        _ loaded: LoadedScenario,
        variant: Variant,
        start: Int64,
        seed: UInt64,
        authority: Data,
        webhookSecret: String?,
        wallIsVirtual: Bool = false,
        stripeEvents: [String]? = nil,
        package: String = ScenarioWorld.bundleID,
        ears: Ears
    ) async throws {
        let settings = loaded.scenario.appStore
        let clock = VirtualClock(now: start / 1000 * 1000)
        var appStoreConfiguration = SimulatedAppStore.Configuration(
            environment: settings.isProduction ? .production : .sandbox,
            bundleID: Self.bundleID,
            appAppleID: Self.appAppleID,
            products: loaded.catalog.products.compactMap {
                SimulatedAppStore.Product($0, settings)
            },
            notificationURL: Self.webhookURL,
            seed: seed,
            renewals: settings.isCompressed ? .compressed(.everyFiveMinutes) : .real,
            renewalLimit: settings.renewalLimit ?? .max,
            graceDays: settings.graceDays,
            renewalLead: settings.isCompressed ? 0 : variant.renewalLead,
            behaviour: variant.behaviour,
            authority: authority
        )
        // The same faults in each telling, yet ids of its own: a backend that keeps what it was told
        // would take a second telling for the first.
        appStoreConfiguration.faultSeed = settings.seed
        appStore = try SimulatedAppStore(
            configuration: appStoreConfiguration,
            clock: clock,
            deliver: ears.notification
        )
        await clock.join(appStore)
        var configuration = StripeSimulator.Configuration()
        configuration.secretKey = Self.stripeKey
        configuration.seed = seed
        configuration.products = loaded.catalog.products.compactMap(StripeSimulator.Product.init)
        configuration.webhookEndpoints = [
            .init(url: Self.webhookURL, secret: webhookSecret ?? Self.webhookSecret)
        ]
        configuration.policy = variant.policy
        configuration.policy.retryDays = loaded.scenario.stripe.retryDays
        configuration.policy.dunningEnd = loaded.scenario.stripe.dunningEnd
        configuration.policy.debitDays = loaded.scenario.stripe.debitDays
        configuration.deliver = ears.event
        if webhookSecret == nil { configuration.wall = { Self.wall } }
        if wallIsVirtual { configuration.wall = { Int(clock.nowAtOnce / 1000) } }
        if let stripeEvents { configuration.webhookEndpoints[0].enabledEvents = stripeEvents }
        stripe = try await StripeSimulator(configuration: configuration, clock: clock)
        googlePlay =
            try await loaded.scenario.usesGooglePlay
            ? Self.googlePlay(loaded, variant, package, clock, seed, ears.hint) : nil
        self.clock = clock
    }
}

extension SimulatedAppStore.Product {
    /// What the App Store sells of a catalog; nothing for a product without an id there.
    public init?(_ product: Catalog.Product) { self.init(product, Scenario.AppStoreSettings()) }

    fileprivate init?(_ product: Catalog.Product, _ settings: Scenario.AppStoreSettings) {
        guard let id = product.appStoreProductID else { return nil }
        let kind: Kind
        switch product.kind {
        case .consumable: kind = .consumable
        case .nonConsumable: kind = .nonConsumable
        case .autoRenewable: kind = .autoRenewable
        case .nonRenewing: kind = .nonRenewing
        case .freeSubscription: return nil
        }
        let offers = settings.offers.filter { $0.product == product.id }.map(\.offer)
        self.init(
            id: id,
            kind: kind,
            price: (product.price?.amount ?? 0) * 10,
            currency: product.price?.currency.uppercased() ?? "USD",
            period: kind == .autoRenewable
                ? product.duration.flatMap { SimulatedAppStore.Period($0.iso8601) } : nil,
            subscriptionGroup: product.subscriptionGroup,
            level: product.level,
            isFamilyShareable: settings.shareable.contains(product.id),
            isMultiSeat: settings.multiseat.contains(product.id),
            introductoryOffer: offers.first { $0.kind == .introductory },
            commitmentPeriods: settings.commitments.contains(product.id) ? 12 : nil,
            offers: offers.filter { $0.kind != .introductory }
        )
    }
}

extension StripeSimulator.Product {
    /// What Stripe sells of a catalog.
    public init?(_ product: Catalog.Product) {
        guard !product.stripePriceIDs.isEmpty, let price = product.price else { return nil }
        var interval: String?
        var count = 1
        if product.kind == .autoRenewable {
            let length = product.duration?.iso8601 ?? "P1M"
            count = Int(length.dropFirst().dropLast()) ?? 1
            switch length.last {
            case "Y": interval = "year"
            case "W": interval = "week"
            case "D": interval = "day"
            default: interval = "month"
            }
        }
        self.init(
            id: "prod_\(product.id)",
            name: product.name,
            features: product.entitlements,
            prices: product.stripePriceIDs.map {
                .init(
                    id: $0,
                    unitAmount: Int(price.amount),
                    currency: price.currency,
                    interval: interval,
                    intervalCount: count
                )
            }
        )
    }
}
