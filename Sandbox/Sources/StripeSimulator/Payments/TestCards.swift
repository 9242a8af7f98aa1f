/// Why a card was refused, in the words of the API. https://docs.stripe.com/declines/codes
struct Decline: Hashable, Sendable {
    var code = "card_declined"
    var declineCode: String
    var message = "Your card was declined."
    var parameter: String?

    static let generic = Decline(declineCode: "generic_decline")
    static let insufficientFunds = Decline(
        declineCode: "insufficient_funds",
        message: "Your card has insufficient funds."
    )
    static let lost = Decline(declineCode: "lost_card")
    static let stolen = Decline(declineCode: "stolen_card")
    static let blocked = Decline(declineCode: "fraudulent")
    static let expired = Decline(
        code: "expired_card",
        declineCode: "expired_card",
        message: "Your card has expired.",
        parameter: "exp_month"
    )
    static let incorrectCVC = Decline(
        code: "incorrect_cvc",
        declineCode: "incorrect_cvc",
        message: "Your card's security code is incorrect.",
        parameter: "cvc"
    )
    static let processing = Decline(
        code: "processing_error",
        declineCode: "processing_error",
        message: "An error occurred while processing your card. Try again in a little bit."
    )
    static let incorrectNumber = Decline(
        code: "incorrect_number",
        declineCode: "incorrect_number",
        message: "Your card number is incorrect.",
        parameter: "number"
    )
    static let notAuthenticated = Decline(
        code: "payment_intent_authentication_failure",
        declineCode: "authentication_not_handled",
        message: "We are unable to authenticate your payment method. Please choose a different "
            + "payment method and try again."
    )
    static let authenticationRequired = Decline(
        code: "authentication_required",
        declineCode: "authentication_required",
        message: "Your card was declined. This transaction requires authentication."
    )
}

/// A card number that does what the documentation says of it. https://docs.stripe.com/testing
struct TestCard: Hashable, Sendable {
    enum Challenge: Hashable, Sendable { case never, unlessSetUp, onSession, always }
    enum RefundOutcome: Hashable, Sendable { case succeeds, pendsFirst, failsLater }

    var number: String
    var brand = "visa"
    var funding = "credit"
    /// What its ids say after `pm_card_` or `tok_`.
    var names: [String]
    var challenge = Challenge.never
    /// What every charge meets, once authenticated.
    var decline: Decline?
    /// Whether even attaching it to a customer is refused.
    var declinesAttachment = true
    /// Whether it pays as long as it belongs to no customer yet.
    var declinesOnlyOnceAttached = false
    /// The reason for which a charge is disputed afterwards.
    var disputeReason: String?
    var isInquiry = false
    var refund = RefundOutcome.succeeds
    /// For bank debits: after how many seconds the bank answers.
    var settlementDelay: Int?

    var isBankDebit: Bool { settlementDelay != nil }

    static let success = TestCard(number: "4242424242424242", names: ["visa"])

    static let all: [TestCard] = [
        success,
        TestCard(number: "5555555555554444", brand: "mastercard", names: ["mastercard"]),
        TestCard(number: "378282246310005", brand: "amex", names: ["amex"]),
        TestCard(number: "4000056655665556", funding: "debit", names: ["visa_debit"]),
        TestCard(
            number: "4000000000000002",
            names: ["visa_chargeDeclined", "chargeDeclined"],
            decline: .generic
        ),
        TestCard(
            number: "4000000000009995",
            names: [
                "visa_chargeDeclinedInsufficientFunds", "chargeDeclinedInsufficientFunds",
            ],
            decline: .insufficientFunds
        ),
        TestCard(
            number: "4000000000009987",
            names: ["visa_chargeDeclinedLostCard", "chargeDeclinedLostCard"],
            decline: .lost
        ),
        TestCard(
            number: "4000000000009979",
            names: ["visa_chargeDeclinedStolenCard", "chargeDeclinedStolenCard"],
            decline: .stolen
        ),
        TestCard(
            number: "4000000000000069",
            names: ["chargeDeclinedExpiredCard"],
            decline: .expired
        ),
        TestCard(
            number: "4000000000000127",
            names: ["chargeDeclinedIncorrectCvc"],
            decline: .incorrectCVC
        ),
        TestCard(
            number: "4000000000000119",
            names: ["chargeDeclinedProcessingError"],
            decline: .processing
        ),
        TestCard(
            number: "4000000000000341",
            names: ["chargeCustomerFail"],
            decline: .generic,
            declinesAttachment: false,
            declinesOnlyOnceAttached: true
        ),
        TestCard(
            number: "4000002500003155",
            names: ["authenticationRequiredOnSetup"],
            challenge: .unlessSetUp
        ),
        TestCard(
            number: "4000002760003184",
            names: ["authenticationRequired"],
            challenge: .always
        ),
        TestCard(
            number: "4000003800000446",
            names: ["authenticationRequiredSetupForOffSession"],
            challenge: .onSession
        ),
        TestCard(
            number: "4000008260003178",
            names: ["authenticationRequiredChargeDeclinedInsufficientFunds"],
            challenge: .always,
            decline: .insufficientFunds,
            declinesAttachment: false
        ),
        TestCard(
            number: "4000000000003220",
            names: ["threeDSecure2Required"],
            challenge: .onSession
        ),
        TestCard(
            number: "4000000000000259",
            names: ["createDispute"],
            disputeReason: "fraudulent"
        ),
        TestCard(
            number: "4000000000002685",
            names: ["createDisputeProductNotReceived"],
            disputeReason: "product_not_received"
        ),
        TestCard(
            number: "4000000000001976",
            names: ["createDisputeInquiry"],
            disputeReason: "fraudulent",
            isInquiry: true
        ),
        TestCard(number: "4000000000007726", names: ["pendingRefund"], refund: .pendsFirst),
        TestCard(number: "4000000000005126", names: ["refundFail"], refund: .failsLater),
        TestCard(number: "4000000000000019", names: ["radarBlock"], decline: .blocked),
        TestCard(number: "4000000000000077", names: ["bypassPending"]),
        TestCard(
            number: "AT611904300234573201",
            brand: "sepa",
            names: ["sepaDebit"],
            settlementDelay: 60
        ),
        TestCard(
            number: "AT321904300235473204",
            brand: "sepa",
            names: ["sepaDebitDelayed"],
            settlementDelay: 180
        ),
        TestCard(
            number: "AT861904300235473202",
            brand: "sepa",
            names: ["sepaDebitFails"],
            decline: .insufficientFunds,
            declinesAttachment: false,
            settlementDelay: 60
        ),
    ]

    /// The card with this number; spaces do not count.
    static func numbered(_ number: String) -> TestCard? {
        let digits = number.filter { $0.isASCII && ($0.isNumber || $0.isLetter) }
        return all.first { $0.number == digits }
    }

    /// The card that a magic id such as `pm_card_visa` or `tok_visa` stands for.
    static func named(_ id: String) -> TestCard? {
        let name =
            id.hasPrefix("pm_card_") ? id.dropFirst(8) : id.hasPrefix("tok_") ? id.dropFirst(4) : ""
        return all.first { $0.names.contains(String(name)) }
    }

    /// Whether the digits pass the check that every real card number passes (ISO/IEC 7812).
    static func isPlausible(_ number: String) -> Bool {
        let digits = number.compactMap(\.wholeNumberValue)
        guard (12...19).contains(digits.count) else { return false }
        let sum = digits.reversed().enumerated().reduce(0) { sum, next in
            let doubled = next.offset % 2 == 1 ? next.element * 2 : next.element
            return sum + (doubled > 9 ? doubled - 9 : doubled)
        }
        return sum % 10 == 0
    }

    /// Whether the holder must be asked now.
    func needsChallenge(offSession: Bool, isSetUp: Bool) -> Bool {
        switch challenge {
        case .never: false
        case .unlessSetUp: !isSetUp
        case .onSession: !offSession
        case .always: true
        }
    }
}
