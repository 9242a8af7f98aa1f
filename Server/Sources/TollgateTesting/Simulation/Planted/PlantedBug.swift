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
    /// What a store calls delivered is not asked for, also after a backup was restored.
    case deliveredIsTaken

    // MARK: Trust
    /// A date in the future is believed.
    case dateUnchecked
    /// Any certificate will do.
    case anyRootTrusted
    /// One message is one text, signature included.
    case dedupeBySignatureText
    /// What was bought in a sandbox counts in production.
    case sandboxIsProduction
    /// What was signed minutes ahead of the server's clock is refused for good.
    case clockBehindRefuses

    // MARK: Time and order
    /// What comes last is the newest.
    case arrivalOrderTrusted
    /// Access ends when a job runs at night.
    case lapsesAtMidnight
    /// Every period lasts three days more than was paid for.
    case accessBeyondPaid
    /// Only the first period of a subscription counts.
    case renewalIgnored
    /// A status goes on to say what it said after another plan has begun.
    case statusOutlivesPlan

    // MARK: The App Store's meaning
    /// The refund of an old period ends the access that a newer one gives.
    case refundOfOldPeriodEndsAccess
    case graceIgnored
    /// Billing retry is taken for billing grace.
    case retryIsGrace
    /// A plan that replaces a running one is overlooked.
    case upgradeIgnored
    /// Nobody asks by what a plan was replaced.
    case replacedAsksNothing
    case reversedRefundForgotten
    /// A refund that is taken back takes back all refunds of the subscription.
    case reversalVoidsAllRefunds
    /// Once revoked, a newer transaction without revocation gives nothing, and nobody asks.
    case revokedStaysRevoked
    case refundIgnored
    /// A refund of a part takes all.
    case partialRefundTakesAll
    case quantityIgnored
    /// What a family shares is taken for bought.
    case familyShareIsAPurchase
    case tokenIgnored
    /// What an old receipt does not say was never said.
    case receiptErases
    /// The date of an upgrade in an old receipt is taken for a refund's.
    case receiptUpgradeIsRefund
    /// Seats that are added replace those that were there.
    case addedSeatsReplace
    /// A refund of some seats takes all.
    case seatRefundTakesAll
    /// The price of one seat is taken for that of all.
    case seatPriceIsTotal
    /// What takes the place of a plan is nobody's.
    case bundleIsNobodys
    /// A switch to a bundle takes back the coins of the plan.
    case bundleIsRefund

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
    /// Time that is credited keeps its coins.
    case creditKeepsCoins
    /// A sale for nothing counts once by its page and once by its invoice.
    case freeSaleCountsTwice

    // MARK: Stripe's meaning
    /// A subscription that was deleted goes on.
    case cancellationIgnored
    case pastDueIsActive
    /// `past_due` takes what was paid for.
    case pastDueTakesPaid
    /// What was paid counts only at today's price.
    case otherPricesForgotten
    case unpaidIsActive
    /// A session that is complete is taken for paid.
    case unpaidSessionGrants
    /// An end that lies far away takes the leeway of every renewal before it.
    case farEndTakesLeeway
    /// What a dispute takes back ends when the dispute is lost.
    case disputeCutsWhenLost
    /// A pass runs from the opening of the page.
    case passRunsFromPage
    /// What is sold once with a subscription gives nothing.
    case extrasGiveNothing
    /// A customer who was deleted at Stripe is used again.
    case deletedCustomerIsKept
}
