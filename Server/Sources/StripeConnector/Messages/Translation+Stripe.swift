internal import Stores

extension Translation {
    /// The translation of an event, or of an object that Stripe was asked for.
    ///
    /// Evidence without facts of a purchase is kept under the payer's id, so that an erasure finds it
    /// (RULES §11).
    init(ofStripe meaning: Meaning, evidence: Evidence) {
        var evidence = evidence
        let hasFacts = if case .facts = meaning { true } else { false }
        if !hasFacts { evidence.person = StripeMessages.payer(in: evidence.body) }
        self.init(meaning, evidence: evidence)
    }
}
