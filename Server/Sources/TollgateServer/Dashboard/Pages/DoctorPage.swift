// SPDX-License-Identifier: Apache-2.0
internal import Hummingbird
internal import Stores
internal import TollgateService

/// The findings of `tollgate doctor`, asked when somebody presses the button.
struct DoctorPage: DashboardPages {
    let request: DashboardRequest

    /// The longest wait for a store, below the usual patience of a proxy.
    private static let limit = Duration.seconds(30)

    /// - Parameters:
    ///   - findings: `nil` before anything was asked.
    ///   - outcomes: of test messages; `nil` before any was sent.
    func doctor(
        _ findings: [Finding]? = nil,
        _ outcomes: [AlertTrial.Outcome]? = nil
    ) throws -> Response {
        try visit.require(.admin)
        guard dashboard.checkUp != nil else { throw Refusal.nothingHere }
        let table = Table(
            caption: words["nav_doctor"],
            columns: [words["state"], words["doctor_check"], words["doctor_finding"]],
            rows: (findings ?? []).map { finding in
                [
                    state(finding.state), Cell(finding.check),
                    Cell.said(finding.sentence, words, formats)
                        .noting(finding.remedy.map { words.said($0, formats) }),
                ]
            },
            empty: words["doctor_not_asked"]
        )
        var content: Model = [
            "findings": table.model, "hasTrial": dashboard.alertTrial != nil, "outcomes": false,
        ]
        if let outcomes { content["outcomes"] = outcomeTable(outcomes).model }
        return page("dash_doctor", words["nav_doctor"], section: "doctor", content)
    }

    func examine() async throws -> Response {
        try visit.require(.admin)
        guard let checkUp = dashboard.checkUp else { throw Refusal.nothingHere }
        let findings = try await dashboard.checkUps.run {
            await checkUp.findings(within: Self.limit)
        }
        return try doctor(findings)
    }

    /// Sends a test message to every channel of alarms.
    func testAlerts() async throws -> Response {
        try visit.require(.admin)
        guard let trial = dashboard.alertTrial?() else { throw Refusal.nothingHere }
        let outcomes = try await dashboard.alertTrials.run {
            try await audited(Deed("alerts.test", "alerts")) { await trial.outcomes() }
        }
        return try doctor(nil, outcomes)
    }

    private func outcomeTable(_ outcomes: [AlertTrial.Outcome]) -> Table {
        Table(
            caption: words["alert_test"],
            columns: [words["alert_channel"], words["state"], words["alert_test_result"]],
            rows: outcomes.map { outcome -> [Cell] in
                [
                    Cell.noted(words["alert_channel_\(outcome.channel)"], outcome.place),
                    outcome.failure == nil
                        ? Cell.badge(words["doctor_ok"], "on")
                        : Cell.badge(words["doctor_failed"], "bad"),
                    outcome.failure.map { readCell($0) } ?? Cell(words["alert_test_taken"]),
                ]
            },
            empty: words["alert_test_none"]
        )
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
