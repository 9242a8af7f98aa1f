import AppStoreSimulator
import Reports
import TollgateCore

/// What was sold, given back and active in one environment by the stores' own books, read by the
/// definitions of docs/reports.md and the stores' documentation alone, and not by our exported rows.
///
/// Money is in milliunits of US dollars, the only currency of simulated worlds. Where no page says to
/// which day something belongs, or what it is worth, both ends of what is possible are kept.
struct FigureTruth {
    /// Money that came or went.
    struct Movement {
        /// The instants between which it may be counted.
        var at: ClosedRange<Int64>
        var amount: ClosedRange<Int64>
    }

    /// Time that a subscription, or an item of one, was paid for.
    struct Stretch {
        /// What goes on by itself: a subscription, or an item of one.
        var owner: String
        /// The subscription.
        var subscription: String
        /// Who comes back if this begins again.
        var customer: String
        /// The catalog's product.
        var product: String
        var from: Int64
        /// Excluded.
        var to: Int64
        /// What it is worth a month.
        var value: Double
        /// Whether it is known what it is worth.
        var isWorthSure = true
        /// Whether it is known that it counts.
        var isSure = true
    }

    var charges: [Movement] = []
    var refunds: [Movement] = []
    var stretches: [Stretch] = []

    /// What may be counted up to the end of a day.
    private static func total(
        _ movements: [Movement],
        through day: Int64
    ) -> ClosedRange<Int64> {
        let end = (day + 1) * WorldPlan.day - 1
        var (low, high): (Int64, Int64) = (0, 0)
        for movement in movements {
            if movement.at.upperBound <= end { low += movement.amount.lowerBound }
            if movement.at.lowerBound <= end { high += movement.amount.upperBound }
        }
        return low...max(low, high)
    }

    /// What may be counted in a range of days.
    static func total(
        _ movements: [Movement],
        in days: ClosedRange<Int64>
    ) -> ClosedRange<Int64> {
        let (from, to) = (days.lowerBound * WorldPlan.day, (days.upperBound + 1) * WorldPlan.day)
        var (low, high): (Int64, Int64) = (0, 0)
        for movement in movements where movement.at.upperBound >= from && movement.at.lowerBound < to {
            let isInside = movement.at.lowerBound >= from && movement.at.upperBound < to
            low += isInside ? movement.amount.lowerBound : 0
            high += movement.amount.upperBound
        }
        return low...max(low, high)
    }

    func gross(through day: Int64) -> ClosedRange<Int64> { Self.total(charges, through: day) }
    func refunded(through day: Int64) -> ClosedRange<Int64> { Self.total(refunds, through: day) }

    /// How many were active in the last millisecond of a day, and what they were worth.
    func active(on day: Int64) -> (count: ClosedRange<Int64>, value: ClosedRange<Double>) {
        let end = (day + 1) * WorldPlan.day - 1
        let there = stretches.filter { $0.from <= end && end < $0.to }
        let sure = there.filter(\.isSure)
        let least = Int64(Set(sure.map(\.owner)).count)
        let most = Int64(Set(there.map(\.owner)).count)
        let low = sure.filter(\.isWorthSure).reduce(0) { $0 + $1.value }
        let high = there.reduce(0) { $0 + $1.value }
        return (least...max(least, most), low...max(low, high))
    }

    /// How many were gone, came, and came back from one day's end to the next; `nil`: something that
    /// is not sure to count has to do with it.
    ///
    /// Some count what is gone by subscription and some by item.
    func moves(on day: Int64) -> (gone: ClosedRange<Int64>, came: ClosedRange<Int64>, back: ClosedRange<Int64>)? {
        let end = (day + 1) * WorldPlan.day - 1
        let start = end - WorldPlan.day
        let near = stretches.filter { $0.to > start && $0.from <= end }
        guard near.allSatisfy(\.isSure) else { return nil }
        let before = near.filter { $0.from <= start && start < $0.to }
        let after = near.filter { $0.from <= end && end < $0.to }
        func count(_ these: [Stretch], without those: [Stretch]) -> ClosedRange<Int64> {
            let items = Set(these.map(\.owner)).subtracting(those.map(\.owner)).count
            let whole = Set(these.map(\.subscription)).subtracting(those.map(\.subscription)).count
            return Int64(min(items, whole))...Int64(max(items, whole))
        }
        let there = Set(before.map(\.owner))
        let new = after.filter { !there.contains($0.owner) }
        let earlier = stretches.filter { $0.from <= start }
        let known = Set(earlier.map(\.customer))
        let same = Set(earlier.map { [$0.customer, $0.product] })
        let stayed = Set(before.map(\.customer))
        let sure = new.filter { same.contains([$0.customer, $0.product]) && !stayed.contains($0.customer) }
        let least = Int64(Set(sure.map(\.subscription)).count)
        let most = Int64(Set(new.filter { known.contains($0.customer) }.map(\.owner)).count)
        return (
            count(before, without: after), count(after, without: before), least...max(least, most)
        )
    }

    /// What a price is worth a month.
    ///
    /// - Parameter period: ISO 8601; `nil`: what was left of one, which goes by real days.
    static func monthly(_ period: String?, from start: Int64, to end: Int64) -> Double {
        switch period {
        case "P1W": return 4
        case "P1M": return 1
        case "P1Y": return 1.0 / 12
        default: break
        }
        let days = max(1, (end - start + WorldPlan.day / 2) / WorldPlan.day)
        switch days {
        case 27...33: return 1
        case 363...375: return 1.0 / 12
        default: return 28 / Double(days)
        }
    }
}

// MARK: - The App Store

/// The App Store's books of everybody.
struct AppStoreBooks {
    var transactions: [SimulatedAppStore.Transaction] = []
    var notifications: [SimulatedAppStore.Notification] = []
    /// Transactions whose refund was taken back.
    var reversed: Set<String> = []

    init(of store: SimulatedAppStore, reversed: Set<String>) async throws {
        self.reversed = reversed
        var seen: Set<String> = []
        for customer in await store.customers() {
            for transaction in try await store.transactions(customer: customer.id) {
                if seen.insert(transaction.sale).inserted { transactions.append(transaction) }
            }
        }
        notifications = await store.notifications()
    }

    /// When Apple took back what was paid, and what share of it.
    func revoked(_ transaction: SimulatedAppStore.Transaction) -> (at: Int64, share: Int64)? {
        guard let revocation = transaction.revocation, !reversed.contains(transaction.id) else {
            return nil
        }
        let share = revocation.isRefund ? revocation.percentage ?? 100_000 : 0
        return (revocation.date, Int64(share))
    }
}

extension FigureTruth {
    /// Adds what the App Store's books say.
    ///
    /// A family member pays nothing, a free trial costs nothing.
    /// https://developer.apple.com/documentation/appstoreserverapi/price
    mutating func add(_ books: AppStoreBooks, _ catalog: Catalog) {
        let paid = books.transactions.filter {
            $0.ownership == .purchased && ($0.price ?? 0) > 0
        }
        for one in paid {
            let price = one.price ?? 0
            addSeats(of: one, books)
            charges.append(Movement(at: one.purchaseDate...one.purchaseDate, amount: price...price))
            guard let back = books.revoked(one) else { continue }
            // What goes back beside an upgrade Apple does not say.
            let least = one.isUpgraded ? 0 : price * back.share / 100_000
            refunds.append(
                Movement(at: back.at...back.at, amount: least...price * back.share / 100_000)
            )
        }
        let plans = books.transactions.filter { $0.kind == .autoRenewable }
        for (_, chain) in plans.grouped(by: \.originalID) { add(chain, books, catalog) }
    }

    /// Adds seats that were refunded while the others stay.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity
    private mutating func addSeats(
        of one: SimulatedAppStore.Transaction,
        _ books: AppStoreBooks
    ) {
        let told = books.notifications.filter { $0.transactionID == one.id && $0.subtype == "SEATS" }
            .map(\.signedDate)
        guard let revoked = one.revokedSeats, revoked > 0, let first = told.min(),
            let last = told.max()
        else { return }
        let amount = (one.price ?? 0) * Int64(revoked) / Int64(one.quantity)
        // A refund of the whole transaction counts for itself.
        let least = books.revoked(one) == nil ? amount : 0
        refunds.append(Movement(at: first...last, amount: least...amount))
    }

    private mutating func add(
        _ chain: [SimulatedAppStore.Transaction],
        _ books: AppStoreBooks,
        _ catalog: Catalog
    ) {
        let ordered = chain.sorted { (Int64($0.id) ?? 0) < (Int64($1.id) ?? 0) }
        for (index, one) in ordered.enumerated() {
            guard one.ownership == .purchased, let price = one.price, price > 0,
                let expires = one.expiresDate
            else { continue }
            var end = grace(after: expires, of: one.originalID, books) ?? expires
            if let back = books.revoked(one) { end = min(end, back.at) }
            let next = ordered.dropFirst(index + 1)
                .filter { $0.additionalReason == nil || $0.expiresDate != expires }
                .map(\.purchaseDate).first { $0 > one.purchaseDate }
            if let next { end = min(end, next) }
            let product = catalog.products.first { $0.appStoreProductID == one.productID }
            let factor = Self.monthly(
                product?.duration?.iso8601,
                from: one.purchaseDate,
                to: expires
            )
            stretches.append(
                Stretch(
                    owner: one.originalID,
                    subscription: one.originalID,
                    customer: one.originalID,
                    product: product?.id ?? "",
                    from: one.purchaseDate,
                    to: end,
                    value: Double(price) * factor,
                    // What is left of a period for which seats were added, or taken away, no page
                    // says in MRR.
                    isWorthSure: one.additionalReason == nil && one.revokedSeats ?? 0 == 0,
                    // Given back after another one was bought: no page says what runs.
                    isSure: !(books.reversed.contains(one.id) && index + 1 < ordered.count)
                )
            )
        }
    }

    /// Until when grace lasted that began at the end of a period; `nil`: there was none.
    ///
    /// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
    private func grace(
        after expires: Int64,
        of original: String,
        _ books: AppStoreBooks
    ) -> Int64? {
        let told = books.notifications.filter { $0.originalTransactionID == original }
        let lead: Int64 = 24 * WorldPlan.hour
        guard
            let began = told.firstIndex(where: {
                $0.type == "DID_FAIL_TO_RENEW" && $0.subtype == "GRACE_PERIOD"
                    && $0.signedDate > expires - lead && $0.signedDate < expires + lead
            })
        else { return nil }
        let ending: Set = ["GRACE_PERIOD_EXPIRED", "DID_RENEW", "EXPIRED", "REFUND"]
        return told[(began + 1)...].first { ending.contains($0.type) }?.signedDate ?? .max
    }
}
