// SPDX-License-Identifier: Apache-2.0
package import TollgateCore

/// An email to a customer about one of their purchases.
///
/// It follows from the record alone. Whether it was sent before is the outbox's business.
package struct Letter: Hashable, Sendable {
    /// The kinds of letters, each switched on by itself.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A payment on the web was received.
        case receipt
        /// The renewal of a plan that is paid on the web failed.
        case paymentFailed = "payment_failed"
        /// A trial ends in three days, and the plan then renews.
        case trialEnds = "trial_ends"
        /// A plan has ended.
        case lapsed

        /// True for letters about a payment, which nobody can unsubscribe from.
        package var isTransactional: Bool {
            switch self {
            case .receipt, .paymentFailed: true
            case .trialEnds, .lapsed: false
            }
        }

        /// The longest of the ages below.
        static let longestAge: Int64 = 3 * 86_400_000

        /// The age of the cause, in milliseconds, at which a letter is not sent any more.
        var greatestAge: Int64 {
            switch self {
            case .receipt, .paymentFailed, .lapsed: Self.longestAge
            // A reminder on the last day comes too late.
            case .trialEnds: 86_400_000
            }
        }
    }

    package var kind: Kind
    package var purchase: TollgateCore.Purchase.Key
    /// The part of the purchase that causes it: an invoice's id, or the id, start or end of a period.
    package var reference: String
    /// The time of the cause, by the stores' clock; of a reminder, the time at which it is due.
    package var caused: Instant
    /// The name of the product.
    package var product: String
    /// The amount that was paid, or that is charged next; `nil`: it is not known.
    package var amount: Catalog.Product.Price?
    /// The time between payments, such as `month`; `nil`: there is one payment, or the time is several
    /// of these, or it is not known.
    package var interval: String?
    /// The day of the payment, of the end, or until which access lasts; `nil`: there is none.
    package var date: Instant?

    package init(
        _ kind: Kind,
        about purchase: TollgateCore.Purchase.Key,
        reference: String,
        caused: Instant,
        product: String,
        amount: Catalog.Product.Price? = nil,
        interval: String? = nil,
        date: Instant? = nil
    ) {
        (self.kind, self.purchase, self.reference) = (kind, purchase, reference)
        (self.caused, self.product) = (caused, product)
        (self.amount, self.interval, self.date) = (amount, interval, date)
    }

    /// Returns whether its cause is recent enough.
    func isFresh(at now: Instant) -> Bool {
        now.milliseconds - caused.milliseconds <= kind.greatestAge
    }
}
