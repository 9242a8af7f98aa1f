import Foundation
internal import SandboxClock

/// A sale, or the refund of one, as it is booked.
struct Booking {
    var transaction: SimulatedAppStore.Transaction
    var isRefund: Bool
    /// By which it falls on a day.
    var instant: Int64
    /// What one unit cost, in milliunits.
    var price: Int64
    /// What one unit brings the developer, in milliunits of `proceedsCurrency`.
    var proceeds: Int64
    var proceedsCurrency: String
    var proceedsReason: String

    var quantity: Int { max(1, transaction.quantity) }

    /// 70 % of the price, 85 % after a year of the subscription; there are no taxes here.
    init(_ transaction: SimulatedAppStore.Transaction, isRefund: Bool, at instant: Int64) {
        self.transaction = transaction
        self.isRefund = isRefund
        self.instant = instant
        let age = transaction.purchaseDate - transaction.originalPurchaseDate
        let isOld =
            transaction.kind == .autoRenewable && age >= 365 * CivilDate.millisecondsPerDay
        price = (transaction.price ?? 0) / Int64(max(1, transaction.quantity))
        proceeds = price * (isOld ? 85 : 70) / 100
        proceedsCurrency = transaction.currency ?? "USD"
        proceedsReason = isOld ? "Rate After One Year" : ""
    }

    /// The line, or the lines, that come of it under a difference.
    func booked(under difference: SimulatedAppStore.ReportDifference) -> [Booking] {
        var booking = self
        let later = (difference.days ?? 3) * CivilDate.millisecondsPerDay
        switch difference.kind {
        case .settlementDate where !isRefund, .refundTiming where isRefund:
            booking.instant += later
        case .timeZone: booking.instant += Self.pacificOffset(at: instant)
        case .exchangeRate:
            booking.proceeds = proceeds * (difference.rate ?? 1080) / 1000
            booking.proceedsCurrency =
                difference.currency ?? (proceedsCurrency == "USD" ? "EUR" : "USD")
        case .tax:
            booking.proceeds = proceeds * 10_000 / (10_000 + (difference.share ?? 1900))
        case .commissionRate: booking.proceeds = price * (difference.share ?? 8500) / 10_000
        case .freeOffer where transaction.offer != nil: booking.setPrice(0)
        case .amount: booking.setPrice(difference.price ?? price + 1000)
        case .missing: return []
        case .unknown where !isRefund:
            booking.instant += later
            return [self, booking]
        case .lateCorrection where !isRefund:
            booking.instant += later
            var reversal = booking
            reversal.isRefund = true
            booking.setPrice(difference.price ?? price - 1000)
            return [self, reversal, booking]
        default: break
        }
        return [booking]
    }

    /// The share of the price stays.
    private mutating func setPrice(_ new: Int64) {
        proceeds = price == 0 ? 0 : proceeds * new / price
        price = new
    }

    /// What is added to an instant so that its day in UTC is its day in Cupertino.
    private static func pacificOffset(at instant: Int64) -> Int64 {
        let hour: Int64 = 3_600_000
        let day = CivilDate.millisecondsPerDay
        let year = CivilDate(daysSince1970: instant / day).year
        // 1970-01-01 was a Thursday; a Sunday is 0.
        func firstSunday(_ month: Int64) -> Int64 {
            let first = CivilDate(year: year, month: month, day: 1).daysSince1970
            return first + (7 - (first + 4) % 7) % 7
        }
        let summer =
            (firstSunday(3) + 7) * day + 10 * hour..<firstSunday(11) * day + 9 * hour
        return summer.contains(instant) ? -7 * hour : -8 * hour
    }
}
