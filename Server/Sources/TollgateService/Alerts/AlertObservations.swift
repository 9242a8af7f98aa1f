// SPDX-License-Identifier: Apache-2.0
internal import Stores
internal import TollgateCore

/// Everything that may be an alarm, as a server knows it at one moment.
///
/// Stores have the names that people call them by.
struct AlertObservations: Sendable {
    /// An endpoint of the app's backend.
    struct Endpoint: Sendable {
        var id: String
        /// Of its address, whose rest may be a secret.
        var host: String
        /// Why nothing is sent to it; `nil` also where its owner has asked for that.
        var disabled: String?
        var failingSince: Instant?
        /// How many events were given up.
        var dead: Int64
    }

    /// Real time.
    var wall: Instant
    /// The stores' time.
    var now: Instant
    var parked: [(store: String, count: Int64)] = []
    /// Questions to stores, by kind; those that a deadline is about are left out.
    var questions: [(kind: String, oldest: Instant)] = []
    /// When each store that is set up was last heard of.
    var heard: [(store: String, at: Instant)] = []
    var deadlines: [(store: String, deadline: StoreDeadline)] = []
    var endpoints: [Endpoint] = []
    /// Entitlements on which the second opinion disagrees.
    var lockedOut = 0
    var letIn = 0
    /// The time since which an email to a customer waits in spite of attempts; `nil`: none does.
    var stuckLetter: Instant?
    /// Emails to customers that failed for good within a day.
    var failedLetters: Int64 = 0
    /// In bytes; `nil`: the database is on another machine.
    var disk: (free: Int64, total: Int64)?
    /// Certificates and their ends; the name begins a sentence.
    var endings: [(name: String, end: Instant)] = []
    /// The checks that failed twice in a row.
    var failures: [Finding] = []
}
