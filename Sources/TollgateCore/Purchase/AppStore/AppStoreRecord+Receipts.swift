// What holds where both signed statements and legacy receipts speak (RULES §2.8).
extension AppStoreRecord {
    /// The status that holds: the newest, but a receipt's replaces neither a signed status 5 nor what
    /// was signed to last longer.
    public var status: Newest<SubscriptionStatus>? {
        guard let receiptStatus, !wouldEndSignedAccess(receiptStatus) else { return signedStatus }
        guard let signedStatus else { return receiptStatus }
        let isRevoked = signedStatus.value.value == SubscriptionStatus.revoked
        return isRevoked || receiptStatus.stated <= signedStatus.stated
            ? signedStatus : receiptStatus
    }

    /// The terms that hold: the newest, with what a receipt leaves out.
    public var renewal: Newest<RenewalTerms>? {
        guard let signedRenewal, var receiptRenewal else { return signedRenewal ?? receiptRenewal }
        guard signedRenewal.stated < receiptRenewal.stated else { return signedRenewal }
        var terms = receiptRenewal.value
        terms.nextProduct = terms.nextProduct ?? signedRenewal.value.nextProduct
        terms.renewalDate = terms.renewalDate ?? signedRenewal.value.renewalDate
        if let granted = signedRenewal.value.graceEnd, granted > receiptRenewal.stated.instant,
            isAboutNewestPeriod(signedRenewal.stated, at: receiptRenewal.stated)
        {
            terms.graceEnd = later(terms.graceEnd, granted)
        }
        receiptRenewal.amend(terms)
        return receiptRenewal
    }

    /// Whether a receipt takes away what was signed to last beyond its clock: a disagreement (RULES
    /// §2.10).
    var isRefusedByReceipt: Bool {
        guard let receiptStatus, wouldEndSignedAccess(receiptStatus) else { return false }
        return signedStatus.map { $0.stated < receiptStatus.stated } ?? true
    }

    /// Whether a receipt's status says that billing failed, and signed words grant something past its
    /// clock: a status 1 or 4 up to its date, a status 4 without one, or a grace period.
    private func wouldEndSignedAccess(_ status: Newest<SubscriptionStatus>) -> Bool {
        guard status.value.isFailed else { return false }
        if let signedStatus, signedStatus.value.isFailed { return false }
        var granted: Instant?
        if let signedStatus, isAboutNewestPeriod(signedStatus.stated, at: status.stated) {
            granted = signedStatus.value.reachesTo
            let isGrace = signedStatus.value.value == SubscriptionStatus.billingGrace
            if isGrace, signedRenewal?.value.graceEnd == nil {
                granted = later(granted, FailedRenewal.undatedEnd(signedStatus.stated))
            }
        }
        if let signedRenewal, isAboutNewestPeriod(signedRenewal.stated, at: status.stated) {
            granted = later(granted, signedRenewal.value.graceEnd)
        }
        return granted.map { status.stated.instant < $0 } ?? false
    }

    /// Whether no period began after words were signed and up to a receipt's clock: else they concern
    /// an older renewal (RULES §2.3).
    private func isAboutNewestPeriod(_ signed: Stated, at receipt: Stated) -> Bool {
        !periods.contains { record in
            signed.instant < record.period.start && record.period.start <= receipt.instant
                && !neverBegan(record)
        }
    }

    /// Whether a receipt repeats, under another id, what a signed transaction states: receipts do
    /// not tell apart the transactions of a multiseat purchase.
    func isRepeated(_ record: PeriodRecord) -> Bool {
        !record.isSigned
            && periods.contains {
                $0.isSigned && $0.period.transactionID == record.period.transactionID
            }
    }
}
