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

    /// The journal's items: the period that runs while the benchmark does; or with bodies a message
    /// for each of so many months, of which that is the last.
    func purchases(messages: Int) -> [JournalItem] {
        messages == 0
            ? [firstPurchase] : (0..<messages).reversed().map { message($0, of: messages) }
    }

    /// The notification of the period that ended `monthsAgo` months before the one that runs.
    private func message(_ monthsAgo: Int, of months: Int) -> JournalItem {
        let bought = self.ends - Int64(months) * Self.month
        let original = String(Self.firstTransaction + number)
        let ends = ends - Int64(monthsAgo) * Self.month
        let signed = min(ends - Self.month, started.milliseconds - 5_000)
        let age = months - 1 - monthsAgo
        let id = age == 0 ? original : original + String(age)
        let transaction = """
            {"transactionId":"\(id)","originalTransactionId":"\(original)",\
            "webOrderLineItemId":"\(Self.firstLineItem + number)\(monthsAgo)",\
            "bundleId":"\(Self.bundleID)","productId":"\(Self.productID)",\
            "subscriptionGroupIdentifier":"20880001","purchaseDate":\(ends - Self.month),\
            "originalPurchaseDate":\(bought),"expiresDate":\(ends),\
            "quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":"\(token)",\
            "inAppOwnershipType":"PURCHASED","signedDate":\(signed),"environment":"Sandbox",\
            "transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441",\
            "price":9990,"currency":"USD","appTransactionId":"70\(original)"}
            """
        let renewal = """
            {"originalTransactionId":"\(original)","autoRenewProductId":"\(Self.productID)",\
            "productId":"\(Self.productID)","autoRenewStatus":1,"renewalPrice":9990,\
            "currency":"USD","signedDate":\(signed),"environment":"Sandbox",\
            "recentSubscriptionStartDate":\(bought),"renewalDate":\(ends),\
            "appTransactionId":"70\(original)"}
            """
        let source = "fill-\(number)-\(monthsAgo)"
        let notification = """
            {"notificationType":"DID_RENEW","notificationUUID":"\(source)","version":"2.0",\
            "signedDate":\(signed),"data":{"bundleId":"\(Self.bundleID)","bundleVersion":"1",\
            "environment":"Sandbox","signedTransactionInfo":"\(Self.sealed(transaction))",\
            "signedRenewalInfo":"\(Self.sealed(renewal))","status":1}}
            """
        let period = Period(
            id: "\(Self.firstLineItem + number)\(monthsAgo)",
            transactionID: id,
            product: Self.productID,
            kind: .autoRenewable,
            start: Instant(milliseconds: ends - Self.month),
            end: Instant(milliseconds: ends),
            token: token,
            price: 9990,
            currency: "USD"
        )
        let statements: [Statement] = [
            .period(period),
            .renewal(
                RenewalTerms(
                    willRenew: true,
                    nextProduct: Self.productID,
                    renewalDate: Instant(milliseconds: ends)
                )
            ),
            .status(
                SubscriptionStatus(
                    value: SubscriptionStatus.active,
                    reachesTo: Instant(milliseconds: ends)
                )
            ),
        ]
        let stated = Instant(milliseconds: signed)
        return JournalItem.message(
            dedupeKey: RowKey("notification", Self.bundleID, source),
            subject: RecordStore.subject(of: key),
            kind: .signed,
            stated: stated,
            facts: statements.map {
                Fact(purchase: key, source: source, stated: Stated(stated), statement: $0)
            },
            received: Array("{\"signedPayload\":\"\(Self.sealed(notification))\"}".utf8)
        )
    }

    private var key: Purchase.Key {
        Purchase.Key(
            store: .appStore,
            environment: .sandbox,
            application: Self.bundleID,
            id: String(Self.firstTransaction + number)
        )
    }

    /// The shape of a signed string; the signature is nobody's.
    private static func sealed(_ payload: String) -> String {
        "\(header).\(Base64URL.encode(Data(payload.utf8))).\(signature)"
    }

    private static let header = Base64URL.encode(
        Data("{\"alg\":\"ES256\",\"x5c\":[\"\(String(repeating: "MIIE", count: 1_000))\"]}".utf8)
    )
    private static let signature = Base64URL.encode(Data(repeating: 7, count: 64))

    /// The journal's item for the purchase that runs while the benchmark does.
    private var firstPurchase: JournalItem {
        let transactionID = String(Self.firstTransaction + number)
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
