/// A mistake that a billing server can make, planted at a seam of ours to prove that the simulation
/// finds it.
///
/// Builds for release cannot plant one.
public enum PlantedBug: String, CaseIterable, Sendable {
    // MARK: Durability
    /// 200 is said although the server was killed before its commit.
    case acknowledgedBeforeCommit
    /// 200 is said although the database refused.
    case successOnFailure
    /// A message is noted as seen, then worked on; what is cut off in between is never done.
    case seenBeforeProcessed
    /// The ledger and the answers are written in a transaction after the journal's.
    case tornTransactions
    /// A page that a store fails to give is taken for an empty one.
    case failedPagesAreTheEnd
    /// A retried spend is another spend.
    case spendsAgainWhenRetried

    // MARK: Trust
    /// A date in the future is believed.
    case dateUnchecked
    /// Any certificate will do.
    case anyRootTrusted
    /// One message is one text, signature included.
    case dedupeBySignatureText
    /// What was bought in a sandbox counts in production.
    case sandboxIsProduction

    // MARK: Time and order
    /// What comes last is the newest.
    case arrivalOrderTrusted
    /// Access ends when a job runs at night.
    case lapsesAtMidnight
    /// Every period lasts three days more than was paid for.
    case accessBeyondPaid
    /// Only the first period of a subscription counts.
    case renewalIgnored

    // MARK: The App Store's meaning
    /// The refund of an old period ends the access that a newer one gives.
    case refundOfOldPeriodEndsAccess
    case graceIgnored
    /// Billing retry is taken for billing grace.
    case retryIsGrace
    /// A plan that replaces a running one is overlooked.
    case upgradeIgnored
    case reversedRefundForgotten
    case refundIgnored
    /// A refund of a part takes all.
    case partialRefundTakesAll
    case quantityIgnored
    /// What a family shares is taken for bought.
    case familyShareIsAPurchase
    case tokenIgnored

    // MARK: The App Store's histories
    /// A refund that is taken back takes back every refund of the subscription.
    case reversalVoidsAllRefunds
    /// A status 5 outweighs a transaction that was signed later without a revocation.
    case olderStatus5BeatsNewerTransaction
    /// A family share that was taken away stays so, though it is given anew.
    case shareGivenAnewForgotten
    /// The status of one plan lets access go on after the next one has ended.
    case statusOutlivesPlan
    /// A legacy receipt's gaps erase signed statements.
    case receiptErasesSignedWords
    /// A legacy receipt that says that a subscription expired ends a grace period that Apple signed.
    case receiptEndsGrace
    /// An upgrade that a legacy receipt tells is taken for a refund.
    case upgradeInReceiptIsARefund
    /// After a backup was restored only what was never delivered is asked for.
    case restoreAsksOnlyFailures
    /// A second transaction of a period ends the first.
    case secondSeatReplacesFirst
    case seatRefundIgnored
    /// The price of one seat is taken for that of all.
    case seatPriceIsTheTotal
    /// A plan that goes on under another original transaction id is somebody else's.
    case previousTransactionForgotten
    /// A switch to a bundle takes back coins as a refund does.
    case bundleSwitchTakesCoins
    /// Nobody asks for what a plan was upgraded to.
    case upgradeSuccessorNotAsked
    /// While the server's clock is behind, genuine notifications are answered 200 and dropped.
    case clockBehindDrops

    // MARK: Coins
    /// Each message credits, though it speaks of a purchase that was credited.
    case creditedPerDelivery
    /// Only one refund of a payment counts.
    case onlyOneRefundCounts
    /// Each event about a refund takes coins.
    case refundTakenPerEvent
    /// A refund that failed stays taken.
    case failedRefundStands
    case disputeIgnored
    case wonDisputeIsLost
    /// A change of plan credits as a period does.
    case prorationCredits
    /// What another system has credited is credited once more after a move.
    case coinsOfBeforeTheMove

    // MARK: Stripe's meaning
    /// A subscription that was deleted goes on.
    case cancellationIgnored
    case pastDueIsActive
    case unpaidIsActive
    /// A session that is complete is taken for paid.
    case unpaidSessionGrants
    /// `past_due` in mid-period ends what is paid for.
    case pastDueTakesWhatIsPaid
    /// Only lines of today's price count as paid.
    case graceAfterSwitchLost
    /// An end that is stated for a later period is taken for the end of this one.
    case farCancelAtHasNoLeeway
    /// A refund or a dispute cuts at the clock of its newest statement.
    case refundCutsAtNewestClock
    /// A pass runs from the opening of the page.
    case passRunsFromOpening
    /// One-time items on a plan's invoice give nothing.
    case oneTimeLineGrantsNothing
    /// A page on which nothing is to be paid, and its invoice, are two sales.
    case freeCheckoutCountsTwice
    /// A credit for unused time leaves the coins of that time.
    case creditKeepsCoins
    /// A customer who was deleted is asked for again at the next checkout.
    case deletedCustomerIsKept
    /// An invoice that was voided or written off is taken for paid.
    case voidedInvoiceIsPaid
    /// A product that the buyer adds on the page gives nothing.
    case addedProductIgnored
    /// Money that was held counts as not paid, though it was captured.
    case captureIgnored
    /// A refund counts only where its payment was for all of an invoice.
    case refundOfAPartIgnored

    // MARK: Figures
    /// An item that was removed takes its past with it.
    case removedItemChangesThePast
    /// The discounts of an invoice are spread over all of its lines.
    case discountByInvoice
    /// A sale is dated by the period that it pays for, not by its charge.
    case saleDayIsThePeriods
    /// Money that a dispute withdrew is no refund.
    case disputeIsNoRefund
    /// A chargeback that was an inquiry counts from the day on which the bank asked.
    case inquiryCountsWhenOpened
}
