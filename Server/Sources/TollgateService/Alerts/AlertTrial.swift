// SPDX-License-Identifier: Apache-2.0
package import Stores

/// A test message to every channel of alarms, to see that alarms would arrive.
public struct AlertTrial: Sendable {
    /// The outcome of the message to one channel.
    public struct Outcome: Codable, Hashable, Sendable {
        /// The kind of the channel: `webhook`, `email`.
        public var channel: String
        /// The host of a chat, or the address of a recipient.
        public var place: String
        /// The reason why it did not take the message, as a sentence; `nil`: it took it.
        public var failure: String?
    }

    let channels: [AlertChannel]
    /// The address by which people know the server.
    let server: String
    let random: RandomSource

    /// - Parameters:
    ///   - server: the address by which people know the server.
    ///   - webhooks: how a chat is reached.
    ///   - mails: how a mail server is reached.
    ///   - clocks: real time is written into the messages.
    package init(
        _ settings: AlertSettings,
        server: String,
        webhooks: @escaping WebhookTransport,
        mails: @escaping MailTransport,
        clocks: Clocks,
        random: RandomSource
    ) {
        channels = settings.channels(webhooks: webhooks, mails: mails, clocks: clocks)
        (self.server, self.random) = (server, random)
    }

    init(channels: [AlertChannel], server: String, random: RandomSource) {
        (self.channels, self.server, self.random) = (channels, server, random)
    }

    /// Sends a message to all channels at once, also in quiet hours; nothing is kept of it.
    ///
    /// - Returns: the outcomes in the order of the channels.
    public func outcomes() async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, channel) in channels.enumerated() {
                group.addTask { (index, await outcome(of: channel)) }
            }
            var found: [Int: Outcome] = [:]
            for await (index, outcome) in group { found[index] = outcome }
            return channels.indices.compactMap { found[$0] }
        }
    }

    private func outcome(of channel: AlertChannel) async -> Outcome {
        var outcome = Outcome(channel: channel.kind, place: channel.place)
        do {
            try await channel.tell(
                AlertMessage(testOf: server, id: random.id("alert_"), form: channel.form)
            )
        } catch let failed as MailFailed {
            outcome.failure = failed.sentence
        } catch let refused as AlertRefused {
            outcome.failure =
                refused.isAboutMessage
                ? "It answered \(refused.status): check its address."
                : "It answered \(refused.status); try again later."
        } catch let refused as WebhookRefused {
            outcome.failure = "Nothing was sent: \(refused.reason)."
        } catch {
            outcome.failure =
                "It cannot be reached, or gave no answer: check its address and this machine's network."
        }
        return outcome
    }
}
