internal import TollgateCore

/// Which apps open links to this server's return pages, as Apple's devices ask for it.
///
/// Of several apps each opens the links of its own checkouts, which name it (`?app=`); links that name
/// none are the first app's.
struct AppSiteAssociation: Encodable {
    struct Links: Encodable {
        struct Detail: Encodable {
            var appIDs: [String]
            var components: [Component]
        }

        struct Component: Encodable {
            var path = "/checkout_redirect*"
            /// Items of the query.
            var query: [String: String]?
            var isExcluded: Bool?

            enum CodingKeys: String, CodingKey {
                case path = "/"
                case query = "?"
                case isExcluded = "exclude"
            }
        }

        var apps: [String] = []
        var details: [Detail]
    }

    var applinks: Links

    /// - Parameters:
    ///   - appIDs: `TEAMID.bundle.id`, as they are configured.
    ///   - apps: the catalog's, which may name their teams.
    init(appIDs: [String], apps: [Catalog.App]) {
        func named(_ app: Catalog.App) -> [String] {
            guard let team = app.teamID, let bundleID = app.bundleID else { return [] }
            return ["\(team).\(bundleID)"]
        }
        guard apps.count > 1 else {
            let own = apps.flatMap(named).filter { !appIDs.contains($0) }
            applinks = Links(details: [Links.Detail(appIDs: own + appIDs, components: [.init()])])
            return
        }
        let owners = Dictionary(grouping: appIDs) { id in
            apps.filter { Self.isOf(id, $0) }
                .max { ($0.bundleID?.count ?? 0) < ($1.bundleID?.count ?? 0) }?.id ?? apps[0].id
        }
        applinks = Links(
            details: apps.compactMap { app in
                let configured = owners[app.id] ?? []
                let ids = named(app).filter { !configured.contains($0) } + configured
                guard !ids.isEmpty else { return nil }
                let others = apps.dropFirst().map {
                    Links.Component(query: ["app": $0.id], isExcluded: true)
                }
                return Links.Detail(
                    appIDs: ids,
                    components: app.id == apps[0].id
                        ? others + [.init()] : [.init(query: ["app": app.id])]
                )
            }
        )
    }

    /// Whether an id is the app's, or that of a clip of it.
    private static func isOf(_ appID: String, _ app: Catalog.App) -> Bool {
        guard let dot = appID.firstIndex(of: "."), let own = app.bundleID else { return false }
        let bundleID = appID[appID.index(after: dot)...]
        return bundleID == own || bundleID.hasPrefix(own + ".")
    }
}
