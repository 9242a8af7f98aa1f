// SPDX-License-Identifier: Apache-2.0
internal import Stores
package import TollgateCore

/// The settings of alarms.
package struct AlertSettings: Sendable {
    package var bounds: AlertBounds
    /// The chat, or the program, that is told; `nil`: none.
    package var webhook: AlertWebhook?
    /// The mail server, and who gets mail; `nil`: nobody does.
    package var email: AlertEmail?
    /// The hours in which only urgent alarms are told; `nil`: there are none.
    package var quietHours: QuietHours?

    package init(
        bounds: AlertBounds,
        webhook: AlertWebhook? = nil,
        email: AlertEmail? = nil,
        quietHours: QuietHours? = nil
    ) {
        (self.bounds, self.webhook, self.email) = (bounds, webhook, email)
        self.quietHours = quietHours
    }

    /// Every way to tell.
    ///
    /// - Parameters:
    ///   - webhooks: `nil`: a chat cannot be reached from here.
    ///   - mails: `nil`: a mail server cannot be reached from here.
    func channels(
        webhooks: WebhookTransport?,
        mails: MailTransport?,
        clocks: Clocks
    ) -> [AlertChannel] {
        var channels: [AlertChannel] = []
        if let webhook, let webhooks {
            channels.append(webhook.channel(over: webhooks, clocks: clocks))
        }
        if let email, let mails { channels += email.channels(over: mails, clocks: clocks) }
        return channels
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
