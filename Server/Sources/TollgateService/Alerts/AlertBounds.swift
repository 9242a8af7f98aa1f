// SPDX-License-Identifier: Apache-2.0
/// The thresholds of alerts; times in milliseconds.
package struct AlertBounds: Hashable, Sendable {
    /// The age of the oldest question to a store.
    package var question: Int64 = 3_600_000
    /// The time without a message of a store; `nil`: no alarm, since a small shop is quiet for days.
    package var silence: Int64?
    /// The time for which an endpoint of the app's backend accepts nothing.
    package var webhook: Int64 = 900_000
    /// The time left before a store's deadline; at most half of what the store gives.
    package var deadline: Int64 = 86_400_000
    /// The time for which a trusted root certificate is still valid.
    package var expiry: Int64 = 30 * 86_400_000
    /// The free share of the database's disk, in percent.
    package var diskPercent: Int64 = 10
    /// The refunds of a week beside its payments, in percent; `nil`: no alarm.
    package var refundPercent: Int64?
    /// The churn of thirty days, in percent; `nil`: no alarm.
    package var churnPercent: Int64?

    package init() {}
}
