import Foundation
import GooglePlaySimulator
import Storage
import Synchronization
import TollgateCore

/// A mistake that a server can make with Google Play, planted to prove that a scenario finds it.
///
/// Planted on the line to Google Play, or where facts are handed to the journal; never in the engine.
public enum PlantedGooglePlayBug: String, CaseIterable, Sendable {
    /// A notification of the type REVOKED or EXPIRED ends access, whatever the read says.
    case typeTrusted
    /// An answer 410 is taken for a revocation.
    case goneIsRevoked
    case acknowledgementForgotten
    /// A purchase and the one that took its place both count.
    case chainGrantsTwice
    /// A void ends the plan, though it is of an old order.
    case oldVoidEndsAccess
    /// A read is as old as the notification that led to it.
    case hintTimeIsVersion
    case testPurchaseIsProduction
    /// A void of some pieces takes all.
    case quantityVoidedWhole
    /// A pending purchase is taken for paid.
    case pendingIsPaid
    /// The end that was read first holds, though the store has moved it.
    case firstExpiryStays
    /// A renewal is awaited although its price lacks the consent that it needs.
    case consentIgnored
    /// The list of voided purchases is not read: a lost notification of a void stays lost.
    case voidedListUnread

    /// The story in Server/Scenarios/google-play that finds it.
    public var story: String {
        switch self {
        case .typeTrusted: "notifications-about-nothing"
        case .goneIsRevoked: "unreadable-while-it-runs"
        case .acknowledgementForgotten: "bought-with-cash"
        case .chainGrantsTwice: "downgrade-deferred"
        case .oldVoidEndsAccess: "old-renewal-charged-back"
        case .hintTimeIsVersion: "an-old-notification-comes-last"
        case .testPurchaseIsProduction: "licence-tester"
        case .quantityVoidedWhole: "ten-pieces-refunded"
        case .pendingIsPaid: "bought-with-cash"
        case .firstExpiryStays: "billing-date-deferred"
        case .consentIgnored: "price-increase-not-accepted-unheard"
        case .voidedListUnread: "revoked-by-the-list-alone"
        }
    }
}

/// A planted bug at work, with what it remembers of what came before.
final class GooglePlayPlanting: Sendable {
    private struct Memory {
        /// Purchase tokens that a notification calls over.
        var over: Set<String> = []
        /// The newest answer about each address.
        var answers: [String: String] = [:]
        /// The time of the last notification about each purchase, in UNIX milliseconds.
        var told: [String: Int64] = [:]
        /// The first end of each purchase.
        var ends: [String: String] = [:]
    }

    private let bug: PlantedGooglePlayBug
    private let memory = Mutex(Memory())

    init(_ bug: PlantedGooglePlayBug) { self.bug = bug }

    // MARK: - Notifications

    /// Takes note of a push.
    func hear(_ body: [UInt8]) {
        let push = Self.object(Data(body))
        let data = (push?["message"] as? [String: Any])?["data"] as? String ?? ""
        guard let hint = Data(base64Encoded: data).flatMap(Self.object) else { return }
        let purchase = hint["subscriptionNotification"] as? [String: Any]
        let void = hint["voidedPurchaseNotification"] as? [String: Any]
        guard let token = (purchase ?? void)?["purchaseToken"] as? String else { return }
        memory.withLock { memory in
            memory.told[token] = Int64(hint["eventTimeMillis"] as? String ?? "")
            let type = purchase?["notificationType"] as? Int ?? 0
            let isCalledOver = bug == .typeTrusted && [12, 13].contains(type)
            if isCalledOver || bug == .oldVoidEndsAccess && void != nil {
                memory.over.insert(token)
            }
        }
    }

    // MARK: - Answers

    /// The answer in place of a call; `nil`: the call is made.
    func reply(instead method: String, _ target: String) -> SimulatedGooglePlay.Reply? {
        guard bug == .acknowledgementForgotten, method == "POST", target.hasSuffix(":acknowledge")
        else { return nil }
        return SimulatedGooglePlay.Reply(status: 200, headers: [:], body: Data("{}".utf8))
    }

    /// An answer as the bug reads it.
    func alter(_ reply: SimulatedGooglePlay.Reply, to target: String) -> SimulatedGooglePlay.Reply {
        var altered = reply
        if bug == .goneIsRevoked, reply.status == 410 {
            let known = memory.withLock { $0.answers[target] } ?? "{}"
            altered.status = 200
            altered.body = Data(
                known.replacing("SUBSCRIPTION_STATE_ACTIVE", with: "SUBSCRIPTION_STATE_EXPIRED")
                    .replacing("\"PURCHASED\"", with: "\"CANCELLED\"").utf8
            )
            return altered
        }
        guard reply.status == 200, target.contains("/purchases/") else { return reply }
        var text = String(decoding: reply.body, as: UTF8.self)
        memory.withLock { $0.answers[target] = text }
        let token = target.split(separator: "/").last.map(String.init) ?? ""
        if memory.withLock({ $0.over.contains(token) }) {
            text.replace("SUBSCRIPTION_STATE_ACTIVE", with: "SUBSCRIPTION_STATE_EXPIRED")
        }
        let names: [PlantedGooglePlayBug: [String]] = [
            .chainGrantsTwice: ["linkedPurchaseToken"],
            .testPurchaseIsProduction: ["testPurchase", "testPurchaseContext"],
            .quantityVoidedWhole: ["voidedQuantity"],
            .consentIgnored: ["priceChangeDetails"],
            .voidedListUnread: ["voidedPurchases"],
        ]
        // A name that nobody knows is read past.
        for name in names[bug] ?? [] { text.replace("\"\(name)\"", with: "\"not_\(name)\"") }
        if bug == .pendingIsPaid {
            text.replace("\"PENDING\"", with: "\"PURCHASED\"")
        }
        if bug == .firstExpiryStays { keepFirstEnd(of: token, in: &text) }
        altered.body = Data(text.utf8)
        return altered
    }

    private func keepFirstEnd(of token: String, in text: inout String) {
        guard let object = Self.object(Data(text.utf8)),
            let end = (object["lineItems"] as? [[String: Any]])?.first?["expiryTime"] as? String
        else { return }
        let first = memory.withLock { memory in
            let first = memory.ends[token] ?? end
            memory.ends[token] = first
            return first
        }
        text.replace(end, with: first)
    }

    // MARK: - The journal

    /// Returns an item as the bug has it journalled.
    func alter(_ item: JournalItem) -> JournalItem {
        guard bug == .hintTimeIsVersion, case .facts(let facts) = item.content else { return item }
        var item = item
        let told = memory.withLock { $0.told }
        item.content = .facts(
            facts.map { fact in
                guard case .googlePlaySubscription = fact.statement,
                    let at = told[fact.purchase.id]
                else { return fact }
                var fact = fact
                fact.stated = Stated(Instant(milliseconds: at), isRead: true)
                return fact
            }
        )
        return item
    }

    private static func object(_ bytes: Data) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: bytes)) as? [String: Any]
    }
}
