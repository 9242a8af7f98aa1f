extension Catalog {
    /// Problems of the apps.
    var appProblems: [CatalogProblem] {
        var report = CatalogReport()
        for (index, app) in apps.enumerated() {
            let place: [CatalogProblem.Step] = [.key("apps"), .index(index)]
            func here(_ key: String) -> [CatalogProblem.Step] { place + [.key(key)] }
            report.identifier(app.id, at: here("id"), limit: 80, what: "an app's id")
            report.once(
                app.id,
                in: "id",
                at: here("id"),
                "the app ‘\(app.id)’ is there twice; give one of them another id"
            )
            report.name(app.name, at: here("name"))
            check(app, at: place, into: &report)
            if let number = app.appAppleID {
                if number <= 0 {
                    report.add(
                        at: here("app_apple_id"),
                        "an app's number is above 0; App Store Connect shows it as the Apple ID"
                    )
                }
                report.once(
                    "\(number)",
                    in: "app_apple_id",
                    at: here("app_apple_id"),
                    "the Apple ID \(number) belongs to another app already; "
                        + "App Store Connect shows each app's under App Information"
                )
            }
            if let team = app.teamID, team.utf8.count != 10 || !team.utf8.allSatisfy(isTeamByte) {
                report.add(
                    at: here("team_id"),
                    "a team id has ten capital letters and digits, like A1B2C3D4E5"
                )
            }
        }
        return report.problems
    }

    /// The names by which the stores know an app: at least one.
    private func check(
        _ app: App,
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        func here(_ key: String) -> [CatalogProblem.Step] { place + [.key(key)] }
        if let bundleID = app.bundleID {
            report.identifier(bundleID, at: here("bundle_id"), limit: 155, what: "a bundle id")
            report.once(
                bundleID,
                in: "bundle_id",
                at: here("bundle_id"),
                "the bundle id ‘\(bundleID)’ belongs to another app already; "
                    + "App Store Connect shows each app's under App Information"
            )
        } else {
            for (key, isThere) in [
                ("app_apple_id", app.appAppleID != nil), ("team_id", app.teamID != nil),
            ] where isThere {
                report.add(
                    at: here(key),
                    "‘\(key)’ is of an app in the App Store; add its ‘bundle_id’, or remove this"
                )
            }
        }
        if let package = app.packageName {
            report.identifier(package, at: here("package_name"), limit: 150, what: "a package name")
            report.once(
                package,
                in: "package_name",
                at: here("package_name"),
                "the package name ‘\(package)’ belongs to another app already"
            )
        } else if app.bundleID == nil {
            report.add(
                at: place,
                "the app ‘\(app.id)’ is in no store; add ‘bundle_id’ for the App Store, or "
                    + "‘package_name’ for Google Play"
            )
        }
    }
}
