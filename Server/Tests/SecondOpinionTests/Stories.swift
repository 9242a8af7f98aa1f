import Testing
import TollgateCore

@testable import SecondOpinion

/// A history made by hand from the stores' documents, and what they say of `pro` at some days.
struct Story: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var policy = Catalog.Ownership.keep
    var words: [Word]
    /// What must be so of `lookupKey`, by day.
    var expected: [Double: Verdict]
    var lookupKey = "pro"
}

extension Story {
    static let all = appStore + boughtOnce + ours + googlePlay + stripe + stripeSales

    private static let second = Paid(id: "2", from: 30, to: 60)

    private static let appStore = [
        Story(
            testDescription: "a plan is bought, and nothing more is heard",
            words: [.notice("SUBSCRIBED", "INITIAL_BUY", signed: 0, Paid(), Terms(), status: 1)],
            expected: [10: .yes, 29.9: .yes, 30.05: .open, 31: .no]
        ),
        Story(
            testDescription: "a plan is cancelled, and ends with its period",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "DID_CHANGE_RENEWAL_STATUS",
                    "AUTO_RENEW_DISABLED",
                    signed: 5,
                    Paid(),
                    Terms(renews: false),
                    status: 1
                ),
            ],
            expected: [29.9: .yes, 30.05: .no]
        ),
        Story(
            testDescription: "a plan renews",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("DID_RENEW", signed: 30, second, Terms(renewalDate: 60), status: 1),
            ],
            expected: [29: .yes, 45: .yes, 61: .no]
        ),
        Story(
            testDescription: "a plan is switched to a bundle, and back under its own id",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "SUBSCRIBED",
                    signed: 10,
                    Paid(id: "2", original: "2", from: 10, to: 40, user: nil, previous: "1"),
                    Terms(renewalDate: 40),
                    status: 1
                ),
                .notice(
                    "SUBSCRIBED",
                    signed: 20,
                    Paid(id: "3", from: 20, to: 50, previous: "2"),
                    Terms(renewalDate: 50),
                    status: 1
                ),
            ],
            expected: [5: .yes, 15: .open, 25: .yes]
        ),
        Story(
            testDescription: "a renewal fails, and no grace is granted: status 3",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("DID_FAIL_TO_RENEW", signed: 30, Paid(), Terms(retries: true), status: 3),
            ],
            expected: [30.02: .no]
        ),
        Story(
            testDescription: "a renewal fails, and 16 days of grace are granted: status 4",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "DID_FAIL_TO_RENEW",
                    "GRACE_PERIOD",
                    signed: 30,
                    Paid(),
                    Terms(graceEnd: 46, retries: true),
                    status: 4
                ),
            ],
            expected: [40: .yes, 45.9: .yes, 46.1: .no]
        ),
        Story(
            testDescription: "a plan is cancelled in grace: service ends at once",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "DID_FAIL_TO_RENEW",
                    "GRACE_PERIOD",
                    signed: 30,
                    Paid(),
                    Terms(graceEnd: 46, retries: true),
                    status: 4
                ),
                .notice(
                    "EXPIRED",
                    "VOLUNTARY",
                    signed: 35,
                    Paid(),
                    Terms(renews: false),
                    status: 2
                ),
            ],
            expected: [34: .yes, 36: .no]
        ),
        Story(
            testDescription: "the running period is refunded: status 5",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REFUND", signed: 10, Paid(revoked: 10), Terms(), status: 5),
            ],
            expected: [9: .yes, 11: .no]
        ),
        Story(
            testDescription: "an older period is refunded: the newer one is paid for",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("DID_RENEW", signed: 30, second, Terms(renewalDate: 60), status: 1),
                .notice("REFUND", signed: 35, Paid(revoked: 35), Terms(renewalDate: 60), status: 1),
            ],
            expected: [40: .yes]
        ),
        Story(
            testDescription: "a refund is reversed, and the fields are gone",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REFUND", signed: 10, Paid(revoked: 10), Terms(), status: 5),
                .notice("REFUND_REVERSED", signed: 20, Paid(), Terms(), status: 1),
            ],
            expected: [25: .yes]
        ),
        Story(
            testDescription: "the notice of a reversal is lost, and a status says active",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REFUND", signed: 10, Paid(revoked: 10), Terms(), status: 5),
                .notice(
                    "DID_CHANGE_RENEWAL_STATUS",
                    signed: 20,
                    Paid(revoked: 10),
                    Terms(),
                    status: 1
                ),
            ],
            expected: [15: .no, 25: .open]
        ),
        Story(
            testDescription: "two periods are refunded, and the older refund is reversed",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("DID_RENEW", signed: 30, second, Terms(renewalDate: 60), status: 1),
                .notice("REFUND", signed: 35, Paid(revoked: 35), Terms(renewalDate: 60), status: 1),
                .notice(
                    "REFUND",
                    signed: 36,
                    Paid(id: "2", from: 30, to: 60, revoked: 36),
                    Terms(renewalDate: 60),
                    status: 5
                ),
                .notice("REFUND_REVERSED", signed: 40, Paid(), Terms(renewalDate: 60), status: 5),
            ],
            expected: [45: .no]
        ),
        Story(
            testDescription: "the notice of a reversal is lost, and a device shows the transaction",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REFUND", signed: 10, Paid(revoked: 10), Terms(), status: 5),
                .shows("jenny", signed: 20, Paid()),
            ],
            expected: [25: .yes]
        ),
        Story(
            testDescription: "one message says status 5 and shows a running period",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REVOKE", signed: 10, Paid(), Terms(), status: 5),
                .shows("jenny", signed: 20, Paid()),
            ],
            expected: [15: .no, 25: .yes]
        ),
        Story(
            testDescription: "the refund of a renewal arrives before the renewal",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "REFUND",
                    signed: 35,
                    Paid(id: "2", from: 30, to: 60, revoked: 35),
                    Terms(renewalDate: 60),
                    status: 5
                ),
                .notice("DID_RENEW", signed: 30, second, Terms(renewalDate: 60), status: 1),
            ],
            expected: [40: .no]
        ),
        Story(
            testDescription: "a plan is upgraded at once",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "DID_CHANGE_RENEWAL_PREF",
                    "UPGRADE",
                    signed: 10,
                    Paid(product: "yearly", id: "2", from: 10, to: 375),
                    Terms(renewalDate: 375),
                    status: 1
                ),
            ],
            expected: [9: .no, 20: .yes, 300: .yes],
            lookupKey: "archive"
        ),
        Story(
            testDescription: "a plan was upgraded, and to what is not known",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .shows("jenny", signed: 10, Paid(upgraded: true)),
            ],
            expected: [20: .open]
        ),
        Story(
            testDescription: "the plan that took a month's place is not known, and is active",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "REFUND_DECLINED",
                    signed: 10,
                    Paid(upgraded: true),
                    Terms(renewalDate: 375),
                    status: 1
                ),
            ],
            expected: [20: .open, 40: .open, 374: .open]
        ),
        Story(
            testDescription: "the change to a shorter plan was lost: its renewal tells",
            words: [
                .notice(
                    "SUBSCRIBED",
                    signed: 0,
                    Paid(product: "yearly", to: 365),
                    Terms(renewalDate: 365),
                    status: 1
                ),
                .shows("jenny", signed: 45, Paid(id: "3", from: 40, to: 70)),
            ],
            expected: [30: .yes, 50: .no, 80: .no],
            lookupKey: "archive"
        ),
        Story(
            testDescription: "the date of a renewal is extended",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice(
                    "RENEWAL_EXTENDED",
                    signed: 20,
                    Paid(to: 50),
                    Terms(renewalDate: 50),
                    status: 1
                ),
            ],
            expected: [40: .yes, 51: .no]
        ),
        Story(
            testDescription: "a share of the family's is revoked",
            words: [
                .shows("jenny", signed: 0, Paid(user: nil, family: true)),
                .notice(
                    "REVOKE",
                    signed: 10,
                    Paid(revoked: 10, user: nil, family: true),
                    Terms(),
                    status: 5
                ),
            ],
            expected: [5: .yes, 11: .no]
        ),
        Story(
            testDescription: "of a period with added seats one transaction is refunded",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(lineItem: "l", seats: true), Terms()),
                .shows(
                    "jenny",
                    signed: 5,
                    Paid(id: "2", lineItem: "l", from: 5, seats: true)
                ),
                .shows(
                    "jenny",
                    signed: 10,
                    Paid(id: "2", lineItem: "l", from: 5, revoked: 10, seats: true)
                ),
            ],
            expected: [20: .yes]
        ),
        Story(
            testDescription: "a receipt lists a plan that nothing signed tells of",
            words: [.receipt("jenny", asked: 1, [Listed()])],
            expected: [10: .yes, 31: .no]
        ),
        Story(
            testDescription: "a receipt takes back no refund that was signed",
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
                .notice("REFUND", signed: 10, Paid(revoked: 10), Terms(), status: 5),
                .receipt("jenny", asked: 15, [Listed()]),
            ],
            expected: [20: .no]
        ),
    ]

    private static let lifetime = Paid(product: "lifetime", type: "Non-Consumable")
    private static let pass = Paid(product: "pass", type: "Non-Renewing Subscription")

    private static let boughtOnce = [
        Story(
            testDescription: "an unlock is bought, and refunded",
            words: [
                .notice("ONE_TIME_CHARGE", signed: 0, lifetime),
                .notice("REFUND", signed: 100, with(lifetime) { $0.revoked = 100 }),
            ],
            expected: [50: .yes, 101: .no]
        ),
        Story(
            testDescription: "an unlock is refunded, and bought again",
            words: [
                .notice("ONE_TIME_CHARGE", signed: 0, lifetime),
                .notice("REFUND", signed: 10, with(lifetime) { $0.revoked = 10 }),
                .notice(
                    "ONE_TIME_CHARGE",
                    signed: 20,
                    with(lifetime) { ($0.id, $0.from) = ("2", 20) }
                ),
            ],
            expected: [15: .no, 30: .yes]
        ),
        Story(
            testDescription: "a pass lasts for the catalog's duration",
            words: [.notice("ONE_TIME_CHARGE", signed: 0, pass)],
            expected: [29: .yes, 31: .no]
        ),
        Story(
            testDescription: "a second pass begins when the first ends",
            words: [
                .notice("ONE_TIME_CHARGE", signed: 0, pass),
                .notice(
                    "ONE_TIME_CHARGE",
                    signed: 10,
                    with(pass) { ($0.id, $0.original, $0.from) = ("2", "2", 10) }
                ),
            ],
            expected: [29: .yes, 45: .yes, 61: .no]
        ),
        Story(
            testDescription:
                "a second pass begins when the first ends, and its payment is disputed",
            words: [.notice("ONE_TIME_CHARGE", signed: 0, pass)]
                + webPass(created: 10) + [
                    .event(
                        "charge.dispute.created",
                        created: 12,
                        .dispute("needs_response", created: 12)
                    )
                ],
            expected: [29: .yes, 45: .open, 61: .no]
        ),
        Story(
            testDescription:
                "an inquiry about a first pass becomes a chargeback: the second begins that day",
            words: webPass(created: 0) + [
                .event(
                    "charge.dispute.created",
                    created: 10,
                    .dispute("warning_needs_response", created: 10)
                ),
                .notice(
                    "ONE_TIME_CHARGE",
                    signed: 12,
                    with(pass) { ($0.id, $0.original, $0.from) = ("2", "2", 12) }
                ),
                .event(
                    "charge.dispute.closed",
                    created: 40,
                    .dispute("lost", created: 10, withdrawn: 20)
                ),
            ],
            expected: [49: .yes, 51: .no]
        ),
        Story(
            testDescription: "a part of a first pass is refunded: the second may begin later",
            words: webPass(created: 0) + [
                .event("refund.created", created: 5, .refund(400, created: 5)),
                .notice(
                    "ONE_TIME_CHARGE",
                    signed: 10,
                    with(pass) { ($0.id, $0.original, $0.from) = ("2", "2", 10) }
                ),
            ],
            expected: [39: .yes, 45: .open, 61: .no]
        ),
        Story(
            testDescription: "a first pass may be another's: the second may begin later",
            words: [
                .shows("anna", signed: 0, with(pass) { $0.user = nil }),
                .shows("jenny", mode: "purchased", signed: 1, with(pass) { $0.user = nil }),
                .notice(
                    "ONE_TIME_CHARGE",
                    signed: 10,
                    with(pass) { ($0.id, $0.original, $0.from) = ("2", "2", 10) }
                ),
            ],
            expected: [39: .yes, 45: .open, 61: .no]
        ),
        Story(
            testDescription: "a pass is refunded",
            words: [
                .notice("ONE_TIME_CHARGE", signed: 0, pass),
                .notice("REFUND", signed: 10, with(pass) { $0.revoked = 10 }),
            ],
            expected: [5: .yes, 11: .no]
        ),
        Story(
            testDescription: "coins open nothing",
            words: [
                .notice("ONE_TIME_CHARGE", signed: 0, Paid(product: "coins", type: "Consumable"))
            ],
            expected: [1: .no]
        ),
    ]

    private static let anna = Paid(user: "anna")

    private static let ours = [
        Story(
            testDescription: "keep: what bears another's token is restored in vain",
            words: [
                .notice("SUBSCRIBED", signed: 0, anna, Terms(), status: 1),
                .shows("jenny", mode: "restored", signed: 1, anna),
            ],
            expected: [10: .no]
        ),
        Story(
            testDescription: "transfer: who restored it last has it",
            policy: .transfer,
            words: [
                .notice("SUBSCRIBED", signed: 0, anna, Terms(), status: 1), .day(1),
                .shows("jenny", mode: "restored", signed: 1, anna),
            ],
            expected: [10: .yes]
        ),
        Story(
            testDescription: "transfer: a restore before the period of a new token is not about it",
            policy: .transfer,
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(user: "zoe"), Terms(), status: 1),
                .shows("jenny", mode: "restored", signed: 35, Paid(user: "zoe")),
                .notice(
                    "SUBSCRIBED",
                    "RESUBSCRIBE",
                    signed: 40,
                    Paid(id: "2", from: 40, to: 70, user: "anna"),
                    Terms(renewalDate: 70),
                    status: 1
                ),
            ],
            expected: [45: .no]
        ),
        Story(
            testDescription: "transfer: a restore before the first token is not about its period",
            policy: .transfer,
            words: [
                .notice("SUBSCRIBED", signed: 0, Paid(user: nil), Terms(), status: 1),
                .shows("jenny", mode: "restored", signed: 10, Paid(user: nil)),
                .notice(
                    "DID_RENEW",
                    signed: 30,
                    Paid(id: "2", from: 30, to: 60, user: "anna"),
                    Terms(renewalDate: 60),
                    status: 1
                ),
            ],
            expected: [20: .yes, 45: .no]
        ),
        Story(
            testDescription: "the policy is that of when an owner's first period was bought",
            words: [
                .notice("SUBSCRIBED", signed: 0, anna, Terms(), status: 1),
                .adopts(20, ownership: .transfer),
                .notice(
                    "DID_RENEW",
                    signed: 30,
                    Paid(id: "2", from: 30, to: 60, user: "anna"),
                    Terms(renewalDate: 60),
                    status: 1
                ),
                .shows("jenny", mode: "restored", signed: 35, anna),
            ],
            expected: [40: .no]
        ),
        Story(
            testDescription: "share: whoever restored it has it",
            policy: .share,
            words: [
                .notice("SUBSCRIBED", signed: 0, anna, Terms(), status: 1), .day(1),
                .shows("jenny", mode: "restored", signed: 1, anna),
            ],
            expected: [10: .yes]
        ),
        Story(
            testDescription: "keep: of two without a token the first has it",
            words: [
                .day(1), .shows("anna", mode: "purchased", signed: 1, Paid(user: nil)), .day(2),
                .shows("jenny", mode: "restored", signed: 2, Paid(user: nil)),
            ],
            expected: [10: .no]
        ),
        Story(
            testDescription: "staff assigns a purchase",
            words: [
                .notice("SUBSCRIBED", signed: 0, anna, Terms(), status: 1),
                .assigns("jenny", original: "1"),
            ],
            expected: [10: .yes]
        ),
        Story(
            testDescription: "staff grants something for some days",
            words: [.day(1), .grants("jenny", until: 20)],
            expected: [10: .yes, 21: .no]
        ),
        Story(
            testDescription: "a free subscription is taken, and removed",
            words: [.takesFree("jenny"), .day(10), .removesFree("jenny")],
            expected: [5: .yes, 11: .no]
        ),
    ]

    private static func with(_ paid: Paid, _ change: (inout Paid) -> Void) -> Paid {
        var paid = paid
        change(&paid)
        return paid
    }
}
