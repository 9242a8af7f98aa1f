// SPDX-License-Identifier: Apache-2.0
/// A way to tell people of alarms; what each was told is kept apart.
struct AlertChannel: Sendable {
    /// Names in the database what was told here: `webhook`, `email/ops@example.com`.
    var name: String
    /// The form of its messages.
    var form: AlertMessage.Form
    /// The kind of channel: `webhook`, `email`.
    var kind: String
    /// The place where it tells, without secrets: a host, or an address of mail.
    var place: String
    /// Throws where the message did not arrive; then it is told again.
    var tell: @Sendable (AlertMessage) async throws -> Void
}
