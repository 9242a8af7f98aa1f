// SPDX-License-Identifier: Apache-2.0
/// A way to tell people of alarms; what each was told is kept apart.
struct AlertChannel: Sendable {
    /// Names in the database what was told here: `webhook`.
    var name: String
    /// Throws where the message did not arrive; then it is told again.
    var tell: @Sendable (AlertMessage) async throws -> Void
}
