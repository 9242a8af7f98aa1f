internal import Crypto
internal import Foundation
internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import StrictJSON
internal import TollgateCore

/// Turns hints into questions: a hint says that something changed, and never what is true.
struct GooglePlayMessages: Sendable {
    let setUp: GooglePlaySetUp

    /// Translates the body of a push, or of a pulled message in the form of one.
    ///
    /// Messages that cannot be used are parked: one that is not accepted comes again for seven days.
    func translate(_ message: ReceivedMessage, at now: Instant) -> Translation {
        let digest = Data(SHA256.hash(data: message.body)).base64EncodedString()
        var evidence = Evidence(
            source: "message:\(digest)",
            key: RowKey("play message", digest),
            stated: now,
            kind: .delivered,
            body: message.body
        )
        let hint: GooglePlay.DeveloperNotification
        do {
            let json = try JSON(message.body)
            if case .parked = message.way,
                let parked = try? JSONDecoder().decode(
                    ParkedOrder.self,
                    from: Data(message.body)
                )
            {
                return parked.translation(evidence)
            }
            let data: JSON
            if json["packageName"] != nil {
                // A subscription without a wrapper pushes the bare data.
                data = json
            } else {
                let push = try GooglePlay.PubSubMessage(push: json)
                evidence.source = "message:\(push.id)"
                evidence.key = RowKey("play message", push.id, digest)
                data = try JSON(push.data)
            }
            hint = try GooglePlay.DeveloperNotification(data)
            if json["packageName"] == nil {
                // Google's id counts: a copy may differ in its number of attempts.
                evidence.key = RowKey("play message", hint.packageName, evidence.source)
            }
        } catch {
            return Translation(
                .parked(reason: "no hint that can be read: \(error)"),
                evidence: evidence
            )
        }
        guard setUp.app(hint.packageName) != nil else {
            return Translation(
                .parked(reason: "a hint about a package that is not configured"),
                evidence: evidence
            )
        }
        // A hint from the future would keep its question open until then.
        evidence.stated = min(Instant(milliseconds: max(0, hint.eventTime)), now)
        return translation(of: hint, evidence)
    }

    private func translation(
        of hint: GooglePlay.DeveloperNotification,
        _ evidence: Evidence
    ) -> Translation {
        let package = hint.packageName
        func asking(_ wanted: [Wanted], about id: String, _ reason: String) -> Translation {
            var evidence = evidence
            let key = Self.hintKey(id, of: package)
            evidence.person = RowKey(key)
            return Translation(.hint(wanted, about: key, reason: reason), evidence: evidence)
        }
        switch hint.content {
        case .subscription(let purchase):
            return asking(
                [Wanted(kind: .googlePlaySubscription, object: purchase.purchaseToken)],
                about: purchase.purchaseToken,
                "subscription notification \(purchase.type)"
            )
        case .oneTimeProduct(let purchase):
            return asking(
                [Wanted(kind: .googlePlayPurchase, object: purchase.purchaseToken)],
                about: purchase.purchaseToken,
                "one-time product notification \(purchase.type)"
            )
        case .voidedPurchase(let void):
            // The purchase says what can still be used, the order what money went back, and the list
            // how many of a quantity.
            var wanted = [
                Wanted(
                    kind: void.isSubscription ? .googlePlaySubscription : .googlePlayPurchase,
                    object: void.purchaseToken
                ), Wanted(kind: .googlePlayVoids, object: package),
            ]
            if let order = void.orderID {
                wanted.append(Wanted(kind: .googlePlayOrder, object: order))
            }
            return asking(wanted, about: void.purchaseToken, "voided purchase notification")
        case .pendingRefundReview(let review):
            var question = asking(
                [
                    Wanted(
                        kind: .googlePlayRefundReview,
                        object: "\(review.orderID) \(review.pendingRefundToken)"
                    )
                ],
                about: review.orderID,
                "pending refund review"
            )
            // It names no purchase, and whoever bought.
            if let account = review.obfuscatedAccountID.flatMap(GooglePlayTranslator.account) {
                question.evidence.person = RowKey(Holder.token(account))
            }
            return question
        case .test:
            return Translation(.nothing(reason: "test notification"), evidence: evidence)
        }
    }

    /// A hint that raises a question again, in the form without a wrapper; `nil` where none does.
    static func hint(
        asking kind: Wanted.Kind,
        _ object: String,
        of package: String,
        at instant: Instant
    ) -> [UInt8]? {
        let name: String
        switch kind {
        case .googlePlaySubscription: name = "subscriptionNotification"
        case .googlePlayPurchase: name = "oneTimeProductNotification"
        default: return nil
        }
        let hint = Hint(
            packageName: package,
            eventTimeMillis: "\(instant.milliseconds)",
            content: [name: Hint.Purchase(notificationType: 0, purchaseToken: object)]
        )
        return try? Array(JSONEncoder().encode(hint))
    }

    private struct Hint: Encodable {
        struct Purchase: Encodable {
            var notificationType: Int
            var purchaseToken: String
        }

        var packageName: String
        var eventTimeMillis: String
        var content: [String: Purchase]

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: NameKey.self)
            try fields.encode(packageName, forKey: NameKey("packageName"))
            try fields.encode(eventTimeMillis, forKey: NameKey("eventTimeMillis"))
            for (name, purchase) in content { try fields.encode(purchase, forKey: NameKey(name)) }
        }
    }

    /// The key of a purchase before it was read: only the read tells the environment.
    static func hintKey(_ id: String, of package: String) -> Purchase.Key {
        Purchase.Key(store: .googlePlay, environment: .production, application: package, id: id)
    }
}
