import Foundation

/// Turns acts into deeds that can be written down.
struct StoryRecorder: Sendable {
    private let onDeed: @Sendable (SimulatedGooglePlay.Story) -> Void

    init(_ onDeed: @escaping @Sendable (SimulatedGooglePlay.Story) -> Void) {
        self.onDeed = onDeed
    }

    func tell(_ deeds: [SimulatedGooglePlay.Deed], _ store: PlayStore, seed: UInt64) {
        let people = store.accountIDs.compactMap { store.accounts[$0] }.map { account in
            SimulatedGooglePlay.Person(
                id: account.id,
                region: account.region,
                isTester: account.isTester
            )
        }
        let subscriptions = (store.catalog.subscriptions ?? []).flatMap { product in
            product.basePlans.enumerated().map { place, plan in
                Self.sold(plan, of: product.productID, isFirst: place == 0)
            }
        }
        let products = (store.catalog.oneTimeProducts ?? []).flatMap { product in
            product.options.enumerated().map { place, option in
                Self.sold(option, of: product.productID, isFirst: place == 0)
            }
        }
        onDeed(
            .init(
                packageName: store.packageName,
                seed: seed,
                accounts: people,
                products: subscriptions + products,
                deeds: deeds
            )
        )
    }

    private static func sold(
        _ plan: BasePlan,
        of product: String,
        isFirst: Bool
    ) -> SimulatedGooglePlay.SoldProduct {
        var sold = SimulatedGooglePlay.SoldProduct(
            productID: product,
            planID: plan.basePlanID,
            isFirst: isFirst,
            isSubscription: true,
            period: plan.period.description,
            priceMicros: plan.priceMicros,
            currency: plan.currency ?? "USD"
        )
        sold.settings["kind"] = plan.kind?.rawValue
        sold.settings["grace_period"] = plan.gracePeriod?.description
        sold.settings["account_hold"] = plan.accountHold?.description
        sold.settings["committed_payments"] = plan.committedPayments.map { "\($0)" }
        sold.offers = (plan.offers ?? []).map { offer in
            SimulatedGooglePlay.SoldOffer(
                id: offer.offerID,
                phases: offer.phases.map { phase in
                    SimulatedGooglePlay.SoldOffer.Phase(
                        duration: phase.duration.description,
                        count: max(1, phase.count ?? 1),
                        priceMicros: phase.priceMicros
                    )
                }
            )
        }
        return sold
    }

    private static func sold(
        _ option: PurchaseOption,
        of product: String,
        isFirst: Bool
    ) -> SimulatedGooglePlay.SoldProduct {
        var sold = SimulatedGooglePlay.SoldProduct(
            productID: product,
            planID: option.purchaseOptionID,
            isFirst: isFirst,
            isSubscription: false,
            period: option.rentalPeriod?.description,
            priceMicros: option.priceMicros,
            currency: option.currency ?? "USD"
        )
        sold.settings["rental_period"] = option.rentalPeriod?.description
        sold.preOrder =
            (option.offers ?? []).compactMap { offer in
                offer.releaseTime.map {
                    SimulatedGooglePlay.PreOrder(offerID: offer.offerID, release: $0)
                }
            }.first
        return sold
    }

    /// - Parameter answer: the answer of the control API.
    static func deed(
        _ act: any Act,
        subject: String,
        answer: JSON,
        _ store: PlayStore,
        at now: Int64
    ) -> SimulatedGooglePlay.Deed {
        let type = type(of: act)
        let token = store.orders[subject]?.token ?? subject
        let name = Acts.all.first { $0.act == type }?.name ?? ""
        let account =
            answer["account"]?.text ?? store.subscriptions[token]?.account
            ?? store.products[token]?.account ?? (store.accounts[subject] == nil ? nil : subject)
        var details: [(name: String, value: String)] = []
        if type == ChangePrice.self || type == MoveRelease.self {
            details.append(("product_id", subject))
        }
        for child in Mirror(reflecting: act).children {
            guard let label = child.label, label != "account", label != "replaces",
                let value = text(child.value)
            else { continue }
            details.append((ActBody.wireName(label), value))
        }
        return .init(
            at: now,
            act: name,
            account: account,
            purchase: account.flatMap { number(of: token, by: $0, store) },
            details: details
        )
    }

    /// The number of the purchase among those of the account, from 1.
    private static func number(of token: String, by account: String, _ store: PlayStore) -> Int? {
        let bought =
            store.subscriptions.values.filter { $0.account == account }
            .map { ($0.boughtAt, $0.token) }
            + store.products.values.filter { $0.account == account }
            .map { ($0.boughtAt, $0.token) }
        return bought.sorted { $0 < $1 }.firstIndex { $0.1 == token }.map { $0 + 1 }
    }

    private static func text(_ value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            return mirror.children.first.flatMap { text($0.value) }
        }
        switch value {
        case let list as NameList: return "[\(list.names.joined(separator: ", "))]"
        case let mode as ReplacementMode: return mode.rawValue
        case let mode as PriceChange.Mode: return mode.rawValue
        case let payment as Account.Payment: return payment.rawValue
        default: return "\(value)"
        }
    }
}
