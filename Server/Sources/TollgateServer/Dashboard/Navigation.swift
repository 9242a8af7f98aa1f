internal import TollgateService

/// The way around the dashboard.
enum Navigation {
    private static let groups: [(title: String, sections: [(id: String, path: String)])] = [
        (
            "nav_business",
            [
                ("overview", "/dashboard"), ("reports", "/dashboard/reports"),
                ("payments", "/dashboard/payments"),
                ("reconciliation", "/dashboard/reconciliation"),
            ]
        ),
        (
            "nav_people",
            [
                ("customers", "/dashboard/customers"), ("purchases", "/dashboard/purchases"),
                ("access", "/dashboard/access"),
                ("app-store", "/dashboard/app-store"),
            ]
        ),
        (
            "nav_system",
            [
                ("deliveries", "/dashboard/deliveries"), ("parked", "/dashboard/parked"),
                ("events", "/dashboard/events"),
                ("webhooks", "/dashboard/webhooks"), ("emails", "/dashboard/emails"),
                ("catalog", "/dashboard/catalog"),
                ("health", "/dashboard/health"), ("doctor", "/dashboard/doctor"),
                ("audit", "/dashboard/audit"),
                ("staff", "/dashboard/staff"), ("keys", "/dashboard/keys"),
                ("sandbox", "/dashboard/sandbox"),
            ]
        ),
    ]

    static func groups(
        _ words: Words,
        section: String,
        role: StaffRole,
        hasLevers: Bool,
        hasDoctor: Bool
    ) -> [Model] {
        groups.map { group in
            [
                "groupTitle": words[group.title],
                "sections": group.sections.filter {
                    (hasLevers || $0.id != "sandbox") && (hasDoctor || $0.id != "doctor")
                        && (role >= .admin || !["staff", "keys", "doctor"].contains($0.id))
                        && (role >= .support || $0.id != "app-store")
                }.map { entry -> Model in
                    [
                        "name": words["nav_\(entry.id)"], "path": entry.path,
                        "isHere": entry.id == section,
                    ]
                },
            ]
        }
    }
}
