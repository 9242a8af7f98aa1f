internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

extension DashboardPages {
    func customerCell(_ id: Customer.ID, _ customer: API.Customer?) -> Cell {
        Cell.link(
            customer?.appUserID ?? words["erased"],
            "/dashboard/customers/\(Ask.escaped(id.rawValue))"
        ).with(id: id.rawValue)
    }

    func names(of lookupKeys: [String]) -> String {
        let catalog = tollgate.store.history.current
        return lookupKeys.map { catalog.entitlement(lookupKey: $0)?.name ?? $0 }
            .joined(separator: ", ")
    }

    /// The page of a store's own on something; `nil` where it has none or is played by a sandbox.
    func consoleURL(
        _ object: StoreObject,
        at store: Store,
        _ environment: StoreEnvironment
    ) -> String? {
        guard dashboard.levers == nil else { return nil }
        return tollgate.connector(of: store)?.consoleURL(of: object, in: environment)
    }

    func stateCell(_ shown: PortalView.Purchase) -> Cell {
        let text = stateText(shown.standing.state)
        switch shown.standing.state {
        case .paymentFailed: return Cell.badge(text, "bad")
        case .refunded, .processing: return Cell.badge(text, "warn")
        default: return Cell.badge(text, shown.isActive ? "on" : "plain")
        }
    }

    func stateText(_ state: PurchaseStanding.State) -> String {
        func dated(_ key: String, _ instant: Instant) -> String {
            words(key, ["date": formats.day(instant)])
        }
        return switch state {
        case .renews(let instant): dated("state_renews", instant)
        case .endsAt(let instant): dated("state_ends", instant)
        case .ended(let instant): dated("state_ended", instant)
        case .paymentFailed(let until?): dated("state_failed_until", until)
        case .paymentFailed(nil): words["state_failed"]
        case .trial(let until): dated("state_trial", until)
        case .paused: words["state_paused"]
        case .forever: words["state_forever"]
        case .startsLater: words["state_later"]
        case .bought(let instant): dated("state_bought", instant)
        case .refunded(let day, nil): dated("state_refunded", day)
        case .refunded(let day, let next?):
            words("state_refunded_renews", ["date": formats.day(day), "next": formats.day(next)])
        case .processing: words["state_processing"]
        case .notPaid: words["state_not_paid"]
        case .inactive: words["not_active"]
        }
    }
}
