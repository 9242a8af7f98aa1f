import Foundation

extension CustomerPurchase {
    /// One sentence about it for the customer, such as `Renews on February 1, 2026 for ¥1,500`, in the
    /// language of `locale`.
    public func formattedStatus(
        locale: Locale = .current,
        timeZone: TimeZone = .current
    ) -> String {
        let texts = Texts(locale)
        func day(_ date: Date) -> String {
            let formatter = DateFormatter()
            formatter.locale = locale
            formatter.timeZone = timeZone
            formatter.dateStyle = .long
            formatter.timeStyle = .none
            return formatter.string(from: date)
        }
        switch status {
        case .paymentFailed: return texts[.purchasePaymentFailed]
        case .paused: return texts[.purchasePaused]
        case .processing: return texts[.purchaseProcessing]
        case .startsLater: return texts[.purchaseStartsLater]
        case .active: break
        default: return texts[isActive ? .purchaseForever : .purchaseEnded]
        }
        if let nextCharge {
            let date = day(nextCharge.date)
            if nextCharge.awaitsConsent { return texts(.purchaseConsent, date) }
            if offer == .trial { return texts(.purchaseTrial, date) }
            return nextCharge.price.map {
                texts(.purchaseRenewsFor, date, $0.formatted(locale: locale))
            } ?? texts(.purchaseRenews, date)
        }
        guard let until else { return texts[.purchaseForever] }
        return texts(willRenew ? .purchaseRenews : .purchaseEnds, day(until))
    }
}
