/// What a change in the middle of a period costs, to the second.
///
/// Each line is rounded by itself and then they are summed: 1000 → 3252 with 445,540 of 2,678,400
/// seconds left gives −166 and +541. https://docs.stripe.com/billing/subscriptions/prorations
enum Proration {
    /// The part of `amount` for the time from `instant` to `end` of a period, rounded half away
    /// from zero (what Stripe does with exactly half a cent is not published).
    static func share(of amount: Int, from instant: Int, start: Int, end: Int) -> Int {
        let length = end - start
        guard length > 0, instant < end else { return 0 }
        let left = min(end - instant, length)
        let (product, overflow) = amount.multipliedReportingOverflow(by: left)
        guard !overflow else {
            return Int((Double(amount) * Double(left) / Double(length)).rounded())
        }
        let doubled = 2 * abs(product) + length
        let rounded = doubled / (2 * length)
        return product < 0 ? -rounded : rounded
    }
}
