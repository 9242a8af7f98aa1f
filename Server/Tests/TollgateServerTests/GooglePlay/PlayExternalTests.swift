import Foundation
import GooglePlayAPI
import Storage
import Stores
import StripeSimulator
import Synchronization
import Testing
import TollgateCore
import TollgateService

@testable import GooglePlayConnector

/// An Android app leads to Stripe, and the server tells Google.
///
/// https://developer.android.com/google/play/billing/outside-gpb-backend
@Suite("Purchases outside Google Play's billing are reported to Google")
struct PlayExternalTests {
    private static let path = "/v1/google_play/external_transactions"

    /// The state of each transaction of an answer, and `true` where it was made known.
    private static func told(_ answer: Answer) -> [String] {
        (answer.json["external_transactions"].array ?? []).map {
            "\($0["state"].string ?? "") \($0["new"].bool ?? false)"
        }
    }

    private static func purchase(of customer: String, _ shop: Shop) async throws -> String {
        let list = try await shop.server.get("/v1/customers/\(customer)/entitlements")
        return try #require(list.json["data"].array?.first?["purchase"].string)
    }

    @Test("A plan sold at Stripe is reported with its renewals and refunds, each once")
    func plan() async throws {
        try await PlayWorld.alone { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                await shop.server.tollgate.fetchWanted()
                let purchase = try await Self.purchase(of: id, shop)
                func report(_ more: String = "") async throws -> Answer {
                    let body = #"{"purchase":"\#(purchase)","region_code":"FR","#
                    return try await shop.server.post(
                        Self.path,
                        body + #""included_tax_percent":20\#(more)}"#
                    )
                }
                func left(_ answer: Answer, _ index: Int) async throws -> Int64? {
                    let list = answer.json["external_transactions"].array ?? []
                    let transaction = try #require(list.dropFirst(index).first)
                    let id = try #require(transaction["id"].string)
                    return try await setUp.apps[0].client
                        .externalTransaction(id)
                        .value.currentPreTax?.micros
                }
                let without = try await report()
                #expect(without.status == 400 && without.code == "parameter_missing")
                #expect(without.json["error"]["param"].string == "external_transaction_token")

                let first = try await report(#","external_transaction_token":"of-play-billing""#)
                #expect(Self.told(first) == ["TRANSACTION_REPORTED true"])
                // 9.99 with 20 per cent in it: 8.325 and 1.665.
                #expect(try await left(first, 0) == 8_325_000)
                let again = try await report()
                #expect(Self.told(again) == ["TRANSACTION_REPORTED false"])

                try await shop.wait(days: 31)
                try await shop.wait(hours: 2)
                let renewed = try await report()
                #expect(
                    Self.told(renewed) == [
                        "TRANSACTION_REPORTED false", "TRANSACTION_REPORTED true",
                    ]
                )

                // A third of the renewal goes back, then the rest.
                let customer = try await shop.stripeCustomer(of: id)
                try await shop.stripe.refund(customer: customer, amount: 333)
                await shop.server.tollgate.fetchWanted()
                for _ in 0..<2 {
                    let answer = try await report()
                    #expect(try await left(answer, 1) == 5_550_000)
                }
                try await shop.stripe.refund(customer: customer, amount: 666)
                await shop.server.tollgate.fetchWanted()
                for _ in 0..<2 {
                    let states = Self.told(try await report())
                    #expect(states == ["TRANSACTION_REPORTED false", "TRANSACTION_CANCELED false"])
                }
            }
        }
    }

    @Test(
        "The link that led out of the app is told to Google",
        arguments: [
            (
                #"{"program":"external_offers","type":"app_download","installed_app_package":"#
                    + #""com.example.game","installed_app_category":"game","#
                    + #""app_download_transaction":"down_1"}"#,
                #""externalOfferDetails":{"linkType":"LINK_TO_APP_DOWNLOAD","#
                    + #""installedAppPackage":"com.example.game","installedAppCategory":"GAME","#
                    + #""appDownloadEventExternalTransactionId":"down_1"}"#
            ),
            (
                #"{"program":"external_content_links","type":"digital_content_offer","#
                    + #""installed_app_category":"app"}"#,
                #""externalContentLinkDetails":{"linkType":"LINK_TO_DIGITAL_CONTENT_OFFER","#
                    + #""externalAppCategory":"APP"}"#
            ),
        ]
    )
    func link(_ link: String, _ told: String) async throws {
        let bodies = Mutex<[String]>([])
        try await PlayWorld.alone(
            intercept: { request in
                if request.method == "POST", request.url.contains("/externalTransactions") {
                    bodies.withLock {
                        $0.append(String(decoding: request.body ?? [], as: UTF8.self))
                    }
                }
                return nil
            }
        ) { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                await shop.server.tollgate.fetchWanted()
                let purchase = try await Self.purchase(of: id, shop)
                let body =
                    #"{"purchase":"\#(purchase)","region_code":"FR","#
                    + #""external_transaction_token":"of-play-billing","link":"#
                let answer = try await shop.server.post(Self.path, body + link + "}")
                #expect(Self.told(answer) == ["TRANSACTION_REPORTED true"])
                #expect(bodies.withLock { $0 }.allSatisfy { $0.contains(told) })
                #expect(bodies.withLock(\.count) == 1)
                for (wrong, param) in [
                    (#""x""#, nil), (#""external_offers""#, "link.type"),
                    (#""external_content_links","type":null"#, "link.type"),
                    (
                        #""external_offers","type":"app_download""#, "link.installed_app_package"
                    ),
                    (
                        #""external_content_links","app_download_transaction":"a""#,
                        "link.app_download_transaction"
                    ),
                ] as [(String, String?)] {
                    let answer = try await shop.server.post(
                        Self.path,
                        body + #"{"program":\#(wrong)}}"#
                    )
                    #expect(answer.status == 400)
                    if let param { #expect(answer.json["error"]["param"].string == param) }
                }
            }
        }
    }

    @Test("Refunds of parts whose tax does not divide evenly add up to the whole payment")
    func rounding() async throws {
        try await PlayWorld.alone { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                await shop.server.tollgate.fetchWanted()
                let purchase = try await Self.purchase(of: id, shop)
                let customer = try await shop.stripeCustomer(of: id)
                // Of 9.99 with 19 per cent in it 8.395 are without tax: 2.798 and 5.597 go back.
                let body =
                    #"{"purchase":"\#(purchase)","region_code":"DE","included_tax_percent":19,"#
                    + #""external_transaction_token":"of-play-billing"}"#
                for (amount, state) in [
                    (333, "TRANSACTION_REPORTED true"), (666, "TRANSACTION_CANCELED false"),
                ] {
                    try await shop.stripe.refund(customer: customer, amount: amount)
                    await shop.server.tollgate.fetchWanted()
                    let answer = try await shop.server.post(Self.path, body)
                    #expect(Self.told(answer) == [state])
                    try await shop.wait(days: 1)
                }
            }
        }
    }

    @Test("A refund that Google has keeps no later one back, by whatever status it is refused")
    func knownRefund() async throws {
        let known = Mutex<Set<String>>([])
        try await PlayWorld.alone(
            intercept: { request in
                guard request.url.hasSuffix(":refund"), let body = request.body else { return nil }
                let json = try JSONDecoder().decode(JSONValue.self, from: Data(body))
                guard let id = json["partialRefund"]["refundId"].string else { return nil }
                let isNew = known.withLock { $0.insert(id).inserted }
                return isNew ? nil : PlayWorld.refusal(400, "invalid")
            }
        ) { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                let id = try await shop.server.customer()
                try await shop.buy("pro_monthly", for: id)
                await shop.server.tollgate.fetchWanted()
                let purchase = try await Self.purchase(of: id, shop)
                let customer = try await shop.stripeCustomer(of: id)
                let body =
                    #"{"purchase":"\#(purchase)","region_code":"FR","included_tax_percent":20,"#
                    + #""external_transaction_token":"of-play-billing"}"#
                // Of 8.325 without tax 2.775 go back, then 1.85.
                for (amount, left) in [(333, 5_550_000), (222, 3_700_000)] {
                    try await shop.stripe.refund(customer: customer, amount: amount)
                    await shop.server.tollgate.fetchWanted()
                    let answer = try await shop.server.post(Self.path, body)
                    let told = try #require(
                        answer.json["external_transactions"].array?.first?["id"].string
                    )
                    let kept = try await setUp.apps[0].client.externalTransaction(told).value
                    #expect(kept.currentPreTax?.micros == Int64(left))
                    try await shop.wait(days: 1)
                }
                #expect(known.withLock { $0.count } == 2)
            }
        }
    }

    @Test("What is bought once is reported under the id of its payment")
    func once() async throws {
        try await PlayWorld.alone { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                let id = try await shop.server.customer()
                try await shop.buy("lifetime", for: id)
                await shop.server.tollgate.fetchWanted()
                let purchase = try await Self.purchase(of: id, shop)
                let answer = try await shop.server.post(
                    Self.path,
                    #"{"purchase":"\#(purchase)","region_code":"FR","external_transaction_token":"t"}"#
                )
                #expect(Self.told(answer) == ["TRANSACTION_REPORTED true"])
                let told = try #require(
                    answer.json["external_transactions"].array?.first?["id"].string
                )
                #expect(purchase.hasSuffix("/\(told)"))
            }
        }
    }

    @Test("Only purchases at Stripe are reported, and the backend alone reports them")
    func refusals() async throws {
        try await PlayWorld.alone { setUp in
            try await Shop.run(googlePlay: setUp) { shop in
                for (purchase, status, code) in [
                    ("sub_1", 400, "parameter_invalid"),
                    ("google_play/production/com.example.app/t", 400, "parameter_invalid"),
                    ("stripe/sandbox/-/sub_none", 404, "resource_missing"),
                ] {
                    let answer = try await shop.server.post(
                        Self.path,
                        #"{"purchase":"\#(purchase)"}"#
                    )
                    #expect(answer.status == status && answer.code == code, "\(purchase)")
                }
                let customer = try await shop.server.customer()
                let session = try await shop.server.session(of: customer)
                let answer = try await shop.server.post(
                    Self.path,
                    as: session,
                    #"{"purchase":"stripe/sandbox/-/sub_1"}"#
                )
                #expect(answer.status == 403 && answer.code == "key_scope")
            }
        }
    }
}
