// SPDX-License-Identifier: Apache-2.0
import Stores
import Testing
import TollgateCore

@testable import TollgateService

/// What is an alarm, over values: just within its bound, and just beyond it.
@Suite("Conditions of alarms")
struct AlertConditionTests {
    private static let wall = Instant(milliseconds: 1_780_272_000_000)
    /// The stores' time is another one in a sandbox.
    private static let now = Instant(milliseconds: 1_900_000_000_000)
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var quiet: @Sendable (inout AlertObservations) -> Void
        var loud: @Sendable (inout AlertObservations) -> Void
        /// The names of the alarms that are raised then.
        var names: [String]
    }

    private static func acknowledgement(in milliseconds: Int64) -> StoreDeadline {
        // Google refunds what is not acknowledged within three days:
        // https://developer.android.com/google/play/billing/integrate#process
        StoreDeadline(
            Wanted.Kind(rawValue: "acknowledgement"),
            act: "acknowledge",
            by: now.advanced(by: milliseconds),
            of: 3 * day,
            waitsForCustomer: false
        )
    }

    private static func endpoint(
        disabled: String? = nil,
        failing milliseconds: Int64? = nil,
        dead: Int64 = 0
    ) -> AlertObservations.Endpoint {
        AlertObservations.Endpoint(
            id: "we_1",
            host: "backend.example.com",
            disabled: disabled,
            failingSince: milliseconds.map { wall.advanced(by: -$0) },
            dead: dead
        )
    }

    private static func broken(_ check: String) -> Finding {
        .failed(check, "It is refused.", "Mend it.")
    }

    static let rows: [Row] = [
        Row(
            testDescription: "emails to customers that no mail server accepts for an hour",
            quiet: { $0.stuckLetter = wall.advanced(by: 1 - hour) },
            loud: { $0.stuckLetter = wall.advanced(by: -hour) },
            names: ["emails/waiting"]
        ),
        Row(
            testDescription: "emails to customers that were refused for good",
            quiet: { $0.failedLetters = 0 },
            loud: { $0.failedLetters = 1 },
            names: ["emails/failed"]
        ),
        Row(
            testDescription: "parked messages, by store",
            quiet: { $0.parked = [("App Store", 0)] },
            loud: { $0.parked = [("App Store", 1), ("Stripe", 3)] },
            names: ["parked/App Store", "parked/Stripe"]
        ),
        Row(
            testDescription: "a question that waits for an hour, by the stores' time",
            quiet: { $0.questions = [("stripe_object", now.advanced(by: 1 - hour))] },
            loud: { $0.questions = [("stripe_object", now.advanced(by: -hour))] },
            names: ["question/stripe_object"]
        ),
        Row(
            testDescription: "a store that is silent for twelve hours, by real time",
            quiet: { $0.heard = [("Stripe", wall.advanced(by: 1 - 12 * hour))] },
            loud: { $0.heard = [("Stripe", wall.advanced(by: -12 * hour))] },
            names: ["silence/Stripe"]
        ),
        Row(
            testDescription: "an acknowledgement that is due within the day",
            quiet: { $0.deadlines = [("Google Play", acknowledgement(in: day))] },
            loud: { $0.deadlines = [("Google Play", acknowledgement(in: day - 1))] },
            names: ["deadline/Google Play/acknowledge"]
        ),
        Row(
            testDescription: "a deadline that is over",
            quiet: { $0.deadlines = [] },
            loud: { $0.deadlines = [("Google Play", acknowledgement(in: -1))] },
            names: ["deadline/Google Play/acknowledge"]
        ),
        Row(
            testDescription: "a webhook endpoint that takes nothing for a quarter of an hour",
            quiet: { $0.endpoints = [endpoint(failing: 899_999)] },
            loud: { $0.endpoints = [endpoint(failing: 900_000)] },
            names: ["webhook/we_1"]
        ),
        Row(
            testDescription: "a webhook endpoint that was given up, in one alarm",
            quiet: { $0.endpoints = [endpoint()] },
            loud: { $0.endpoints = [endpoint(disabled: "410", failing: 900_000, dead: 7)] },
            names: ["webhook/we_1"]
        ),
        Row(
            testDescription: "events that were given up",
            quiet: { $0.endpoints = [endpoint(dead: 0)] },
            loud: { $0.endpoints = [endpoint(dead: 1)] },
            names: ["webhook/we_1"]
        ),
        Row(
            testDescription: "the second opinion's list",
            quiet: { $0.lockedOut = 0 },
            loud: {
                $0.lockedOut = 1
                $0.letIn = 2
            },
            names: ["access/locked_out", "access/let_in"]
        ),
        Row(
            testDescription: "less than a tenth of the disk",
            quiet: { $0.disk = (10, 100) },
            loud: { $0.disk = (9, 100) },
            names: ["disk"]
        ),
        Row(
            testDescription: "a root certificate that ends within thirty days",
            quiet: { $0.endings = [("The root", wall.advanced(by: 30 * day))] },
            loud: { $0.endings = [("The root", wall.advanced(by: 30 * day - 1))] },
            names: ["expiry/The root"]
        ),
        Row(
            testDescription: "a store that refuses its key, in one alarm for all apps",
            quiet: { $0.failures = [] },
            loud: { $0.failures = [broken("stripe.key"), broken("stripe.key")] },
            names: ["check/stripe.key"]
        ),
    ]

    private static func names(_ change: (inout AlertObservations) -> Void) -> [String] {
        var bounds = AlertBounds()
        bounds.silence = 12 * hour
        var seen = AlertObservations(wall: wall, now: now)
        change(&seen)
        return seen.alarms(bounds).map(\.name)
    }

    @Test("Beyond its bound something is an alarm, and within it nothing is", arguments: rows)
    func bounds(_ row: Row) {
        #expect(Self.names(row.quiet) == [])
        #expect(Self.names(row.loud) == row.names)
    }

    @Test("Alarms that lose money or lock out payers now are urgent, others wait until morning")
    func urgency() {
        func urgent(_ change: (inout AlertObservations) -> Void) -> [String] {
            var seen = AlertObservations(wall: Self.wall, now: Self.now)
            change(&seen)
            return seen.alarms(AlertBounds()).filter(\.isUrgent).map(\.name)
        }
        let checks = [
            "stripe.key", "app_store.notifications", "public_url", "clock", "backups",
            "stripe.prices", "stripe.webhook_endpoint",
        ]
        #expect(
            urgent { $0.failures = checks.map(Self.broken) }.sorted() == [
                "check/app_store.notifications", "check/clock", "check/public_url",
                "check/stripe.key", "check/stripe.webhook_endpoint",
            ]
        )
        #expect(
            urgent {
                $0.parked = [("Stripe", 1)]
                $0.questions = [("stripe_object", Self.now.advanced(by: -Self.hour))]
                ($0.lockedOut, $0.letIn) = (1, 1)
            } == ["parked/Stripe", "question/stripe_object", "access/locked_out"]
        )
        #expect(urgent { $0.deadlines = [("x", Self.acknowledgement(in: Self.day / 2))] } == [])
        let near = urgent { $0.deadlines = [("x", Self.acknowledgement(in: Self.day / 2 - 1))] }
        #expect(near == ["deadline/x/acknowledge"])
        #expect(urgent { $0.endpoints = [Self.endpoint(dead: 1)] } == [])
        #expect(urgent { $0.endpoints = [Self.endpoint(disabled: "410")] } == ["webhook/we_1"])
        #expect(urgent { $0.disk = (1_000_000_000, 100_000_000_000) } == [])
        #expect(urgent { $0.disk = (999_999_999, 100_000_000_000) } == ["disk"])
        #expect(urgent { $0.endings = [("x", Self.wall.advanced(by: Self.day))] } == [])
        #expect(
            urgent { $0.endings = [("x", Self.wall.advanced(by: Self.day - 1))] } == ["expiry/x"]
        )
    }

    @Test("What waits for a customer to come is nobody's alarm")
    func customers() {
        let names = Self.names { seen in
            var deadline = Self.acknowledgement(in: -1)
            deadline.waitsForCustomer = true
            seen.deadlines = [("Google Play", deadline)]
        }
        #expect(names == [])
    }

    @Test("Of a day that the store gives, half may pass before anybody is alarmed")
    func shortDeadline() {
        func names(left: Int64) -> [String] {
            Self.names { seen in
                var deadline = Self.acknowledgement(in: left)
                deadline.time = Self.day
                seen.deadlines = [("Google Play", deadline)]
            }
        }
        #expect(names(left: Self.day) == [])
        #expect(names(left: Self.day / 2) == [])
        #expect(names(left: Self.day / 2 - 1).count == 1)
    }

    @Test("Silence is an alarm only where somebody has said for how long")
    func silence() {
        var seen = AlertObservations(wall: Self.wall, now: Self.now)
        seen.heard = [("Stripe", Self.wall.advanced(by: -365 * Self.day))]
        #expect(seen.alarms(AlertBounds()).isEmpty)
    }

    @Test("A disk on another machine, or of no size, is no alarm")
    func noDisk() {
        let elsewhere = Self.names { $0.disk = nil }
        let empty = Self.names { $0.disk = (0, 0) }
        #expect(elsewhere == [] && empty == [])
    }
}
