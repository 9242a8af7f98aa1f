internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateService

/// The sandbox's clock and what happens in its stores.
struct SandboxPages: DashboardPages {
    let request: DashboardRequest

    func sandbox(notice: String?) async throws -> Response {
        let now = await tollgate.clocks.now()
        let groups = await dashboard.levers?.groups() ?? []
        return page(
            "dash_levers",
            words["nav_sandbox"],
            section: "sandbox",
            [
                "now": formats.time(now),
                "groups": groups.map { group -> Model in
                    [
                        "groupName": words[storeName(named: group.title)],
                        "hasTargets": !group.targets.isEmpty,
                        "targets": group.targets.map { target -> Model in
                            ["id": target.id, "targetName": target.name]
                        },
                        "levers": group.levers.map { lever -> Model in
                            [
                                "leverID": lever.id, "leverName": words[lever.label],
                                "isDangerous": lever.isDangerous,
                            ]
                        },
                    ]
                },
            ]
        )
    }

    func pull(_ lever: String, _ form: [String: String]) async throws -> Response {
        try visit.require(.support)
        guard let levers = dashboard.levers else { throw Refusal.nothingHere }
        let target = form["target"] ?? ""
        let name = form["lever"] ?? lever
        try await audited(
            Deed("sandbox.\(name)", "sandbox:\(target)"),
            state: { "\(await tollgate.clocks.now())" }
        ) {
            do {
                try await levers.pull(name, target)
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw Refusal.conflict("sandbox_refused", "\(error)")
            }
        }
        return done("pulled", "/dashboard/sandbox")
    }
}
