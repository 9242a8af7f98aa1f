// What holds where both signed statements and legacy receipts speak (RULES §2.8).
extension AppStoreRecord {
    /// The newest status; a receipt's replaces neither a signed status 5 nor a longer signed one.
    public var status: Newest<SubscriptionStatus>? {
        guard let receiptStatus, !wouldEndSignedAccess(receiptStatus) else { return signedStatus }
        guard let signedStatus else { return receiptStatus }
        let isRevoked = signedStatus.value.value == SubscriptionStatus.revoked
        return isRevoked || receiptStatus.stated <= signedStatus.stated
            ? signedStatus : receiptStatus
    }

    /// The renewal terms that count: the newest, completed by signed ones where a receipt is silent.
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

    /// `true` if a receipt ends what was signed to last longer: a disagreement (RULES §2.10).
    var isRefusedByReceipt: Bool {
        guard let receiptStatus, wouldEndSignedAccess(receiptStatus) else { return false }
        return signedStatus.map { $0.stated < receiptStatus.stated } ?? true
    }

    /// Returns `true` if a receipt's failed billing would end access that was signed to last longer.
    ///
    /// That is a status 1 or 4 up to its date, a status 4 without one, or a grace period.
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

    /// Returns `true` if no period began between a statement's clock and a receipt's (RULES §2.3).
    private func isAboutNewestPeriod(_ signed: Stated, at receipt: Stated) -> Bool {
        !periods.contains { record in
            signed.instant < record.period.start && record.period.start <= receipt.instant
                && !neverBegan(record)
        }
    }

    /// Returns `true` if a receipt repeats a signed transaction under another id, as for seats.
    func isRepeated(_ record: PeriodRecord) -> Bool {
        !record.isSigned
            && periods.contains {
                $0.isSigned && $0.period.transactionID == record.period.transactionID
            }
    }
}
