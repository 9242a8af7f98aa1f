internal import Foundation
internal import Storage
internal import Stores
internal import TollgateCore

/// An order that Google did not show for weeks, kept aside for people to look at.
///
/// Nobody has sent it: it is taken back only from where it was parked.
struct ParkedOrder: Codable {
    struct Order: Codable {
        var orderId: String
        var purchaseToken: String
    }

    var packageName: String
    /// When it was parked, in milliseconds: parked again, it is another message, since one that was tried
    /// already would count as known.
    var parkedMillis: Int64
    var tollgateOrder: Order

    /// The question that it raises when it is tried again.
    func translation(_ evidence: Evidence) -> Translation {
        var evidence = evidence
        let key = GooglePlayMessages.hintKey(tollgateOrder.purchaseToken, of: packageName)
        evidence.person = RowKey(key)
        return Translation(
            .hint(
                [Wanted(kind: .googlePlayOrder, object: tollgateOrder.orderId)],
                about: key,
                reason: "an order that Google Play did not show is asked for again"
            ),
            evidence: evidence
        )
    }
}
