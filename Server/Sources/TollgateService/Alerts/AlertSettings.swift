// SPDX-License-Identifier: Apache-2.0
package import TollgateCore

/// The settings of alarms.
package struct AlertSettings: Sendable {
    package var bounds: AlertBounds
    /// Where alarms are told.
    package var webhook: AlertWebhook

    package init(bounds: AlertBounds, webhook: AlertWebhook) {
        (self.bounds, self.webhook) = (bounds, webhook)
    }
}

/// The part of alarms that asks the machine on which the server runs.
package struct AlertMachine: Sendable {
    let checkUp: CheckUp
    /// The free bytes of the database's disk, and all; `nil`: it is on another machine.
    let disk: @Sendable () -> (free: Int64, total: Int64)?
    /// Certificates and their ends; the name begins a sentence.
    let endings: [(name: String, end: Instant)]

    package init(
        checkUp: CheckUp,
        disk: @escaping @Sendable () -> (free: Int64, total: Int64)?,
        endings: [(name: String, end: Instant)]
    ) {
        (self.checkUp, self.disk, self.endings) = (checkUp, disk, endings)
    }
}
