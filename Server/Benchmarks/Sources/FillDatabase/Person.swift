import Crypto
import Foundation
import Storage
import TollgateAPI
import TollgateCore

/// Customer `number` of the population: the same ids and dates as `benchmark/population.py`, since
/// the notifications that are posted later are made there.
struct Person: Sendable {
    let number: Int
    let started: Instant

    private static let bundleID = "com.example.app"
    private static let productID = "com.example.app.pro.monthly"
    private static let hour: Int64 = 3_600_000
    private static let month: Int64 = 30 * 24 * hour
    private static let firstTransaction = 2_000_000_000_000_000
    private static let firstLineItem = 2_500_000_000_000_000

    /// What the app's backend posts.
    var request: API.CreateCustomerRequest {
        API.CreateCustomerRequest(appUserID: appUserID, appAccountToken: token)
    }

    /// The journal's item for the purchase that runs while the benchmark does.
    var firstPurchase: JournalItem {
        let transactionID = String(Self.firstTransaction + number)
        let key = Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: Self.bundleID,
            id: transactionID
        )
        let signed = Instant(milliseconds: started.milliseconds - 5_000)
        let source = "fill-\(number)"
        let period = Period(
            id: String(Self.firstLineItem + number),
            transactionID: transactionID,
            product: Self.productID,
            kind: .autoRenewable,
            start: Instant(milliseconds: ends - Self.month),
            end: Instant(milliseconds: ends),
            token: token,
            price: 9990,
            currency: "USD"
        )
        let terms = RenewalTerms(
            willRenew: true,
            nextProduct: Self.productID,
            renewalDate: Instant(milliseconds: ends)
        )
        let status = SubscriptionStatus(
            value: SubscriptionStatus.active,
            reachesTo: Instant(milliseconds: ends)
        )
        let statements: [Statement] = [.period(period), .renewal(terms), .status(status)]
        return JournalItem(
            dedupeKey: RowKey("notification", Self.bundleID, source),
            subject: RecordStore.subject(of: key),
            kind: .signed,
            stated: signed,
            content: .facts(
                statements.map {
                    Fact(purchase: key, source: source, stated: Stated(signed), statement: $0)
                }
            )
        )
    }

    private var appUserID: String {
        let digits = String(number)
        return "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    private var token: String {
        var bytes = Array(
            Insecure.MD5.hash(data: Data("app account token \(number)".utf8))
        )
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return uuid.uuidString.lowercased()
    }

    private var ends: Int64 {
        started.milliseconds + Self.hour + (Int64(number) * 7_919_000) % (22 * Self.hour)
    }
}
