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
        let subscriptions = (store.catalog.subscriptions ?? []).compactMap { product in
            product.basePlans.first.map { plan in
                SimulatedGooglePlay.SoldProduct(
                    productID: product.productID,
                    basePlanIDs: product.basePlans.map(\.basePlanID),
                    period: plan.period.description,
                    priceMicros: plan.priceMicros,
                    currency: plan.currency ?? "USD"
                )
            }
        }
        let products = (store.catalog.oneTimeProducts ?? []).compactMap { product in
            product.options.first.map { option in
                SimulatedGooglePlay.SoldProduct(
                    productID: product.productID,
                    basePlanIDs: [],
                    period: nil,
                    priceMicros: option.priceMicros,
                    currency: option.currency ?? "USD"
                )
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
