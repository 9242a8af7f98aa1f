// SPDX-License-Identifier: Apache-2.0
import AppStoreAPI
import Stores
import TollgateCore
import TollgateService

/// Everything that a server needs to tell of alarms by itself.
struct Alarming: Sendable {
    let settings: Replaceable<ServeSettings>
    let checkUp: CheckUp

    /// - Returns: `nil` where alarms are told nowhere.
    func alerts(of tollgate: Tollgate) -> Alerts? {
        let settings = settings.value
        return settings.alerts.map { tollgate.alerts($0, on: machine(settings)) }
    }

    /// A test message to every channel, by the settings of the moment.
    func trial(of tollgate: Tollgate) -> AlertTrial { tollgate.alertTrial(settings.value.alerts) }

    private func machine(_ settings: ServeSettings) -> AlertMachine {
        let path = settings.location.sqlitePath
        let verifier = settings.verifier
        return AlertMachine(
            checkUp: checkUp,
            disk: { path.flatMap { MachineChecks.room(beside: $0) } },
            endings: zip(verifier?.rootNames ?? [], verifier?.rootEnds ?? []).map { name, end in
                ("The trusted root certificate \(name)", Instant(milliseconds: end))
            }
        )
    }
}
