// SPDX-License-Identifier: Apache-2.0
internal import Hummingbird
internal import Stores
internal import TollgateService

/// The findings of `tollgate doctor`, asked when somebody presses the button.
struct DoctorPage: DashboardPages {
    let request: DashboardRequest

    /// The longest wait for a store, below the usual patience of a proxy.
    private static let limit = Duration.seconds(30)

    /// - Parameter findings: `nil` before anything was asked.
    func doctor(_ findings: [Finding]?) throws -> Response {
        try visit.require(.admin)
        guard dashboard.checkUp != nil else { throw Refusal.nothingHere }
        let table = Table(
            caption: words["nav_doctor"],
            columns: [words["state"], words["doctor_check"], words["doctor_finding"]],
            rows: (findings ?? []).map { finding -> [Cell] in
                var sentence = Cell.english(finding.sentence)
                sentence.note = finding.remedy
                return [state(finding.state), Cell(finding.check), sentence]
            },
            empty: words["doctor_not_asked"]
        )
        return page(
            "dash_list",
            words["nav_doctor"],
            section: "doctor",
            [
                "table": table.model, "lead": words["doctor_lead"],
                "action": "/dashboard/doctor/ask", "actionLabel": words["doctor_ask"],
            ]
        )
    }

    func examine() async throws -> Response {
        try visit.require(.admin)
        guard let checkUp = dashboard.checkUp else { throw Refusal.nothingHere }
        let findings = try await dashboard.checkUps.run {
            await checkUp.findings(within: Self.limit)
        }
        return try doctor(findings)
    }

    private func state(_ state: Finding.State) -> Cell {
        switch state {
        case .ok: Cell.badge(words["doctor_ok"], "on")
        case .warning: Cell.badge(words["doctor_warning"], "warn")
        case .failed: Cell.badge(words["doctor_failed"], "bad")
        case .skipped: Cell.badge(words["doctor_skipped"], "plain")
        }
    }
}
