// What holds where both signed statements and legacy receipts speak (RULES §2.8).
extension AppStoreRecord {
    /// The status that holds: the newest, but a receipt's never replaces a signed status 5.
    public var status: Newest<SubscriptionStatus>? {
        guard let signedStatus, let receiptStatus else { return signedStatus ?? receiptStatus }
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
        receiptRenewal.amend(terms)
        return receiptRenewal
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
