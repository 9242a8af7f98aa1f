internal import Stores

extension Translation {
    /// What Stripe sent, or answered to a read.
    ///
    /// What a purchase's facts do not lead to must be found by whom it is about (RULES §11).
    init(ofStripe meaning: Meaning, evidence: Evidence) {
        var evidence = evidence
        let hasFacts = if case .facts = meaning { true } else { false }
        if !hasFacts { evidence.person = StripeMessages.payer(in: evidence.body) }
        self.init(meaning, evidence: evidence)
    }
}
