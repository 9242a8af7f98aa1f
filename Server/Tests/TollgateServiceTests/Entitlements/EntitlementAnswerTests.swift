import Crypto
import Foundation
import Testing
import TollgateAPI
import TollgateCore

@testable import TollgateService

@Suite("The answer that most requests ask for")
struct EntitlementAnswerTests {
    private static let texts = [
        "pro", "say \"pro\"", "back\\slash/slash", "two\nlines\r\t\u{1}\u{8}\u{C}\u{1F}\u{7F}",
        "日本語 é e\u{301} \u{2028} 👩‍🚀", "",
    ]

    private static func list(_ name: String, at instant: Int64 = 6) -> API.EntitlementList {
        API.EntitlementList(
            data: [
                API.Entitlement(
                    id: "ent_\(name)",
                    lookupKey: name,
                    feature: name,
                    since: -1,
                    until: nil,
                    ground: .payment,
                    purchase: nil
                ),
                API.Entitlement(
                    id: "ent_archive",
                    lookupKey: "archive",
                    feature: "Back issues",
                    since: 5,
                    until: .max,
                    ground: .renewal,
                    purchase: "app_store/sandbox/com.example.app/\(name)",
                    offer: name,
                    willRenew: true
                ),
                API.Entitlement(
                    id: "ent_ended",
                    lookupKey: "ended",
                    feature: "Ended",
                    since: 5,
                    until: 7,
                    ground: .payment,
                    purchase: nil,
                    willRenew: false
                ),
            ],
            environment: .sandbox,
            at: instant
        )
    }

    private static func timeline(_ keys: [String]) -> Timeline {
        let products = keys.enumerated().map { index, key in
            Catalog.Product(
                id: "product_\(index)",
                name: key,
                kind: .nonConsumable,
                appStoreProductID: "com.example.\(index)",
                entitlements: [key, "all"]
            )
        }
        let catalog = Catalog(
            entitlements: (keys + ["all"]).map { .init(lookupKey: $0, name: $0) },
            products: products
        )
        let access = keys.indices.map { index in
            let key = Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: "com.example.app",
                id: "\(index)"
            )
            let product = StoreProduct(.appStore, "com.example.\(index)")
            let spans: [(Int64, Int64?)] = [(0, 10), (10, 20), (30, index == 0 ? nil : 40)]
            return (
                key,
                PurchaseAccess(
                    intervals: spans.map { since, until in
                        AccessInterval(
                            product: product,
                            since: Instant(milliseconds: since),
                            until: until.map { Instant(milliseconds: $0) },
                            ground: .payment,
                            evidence: "\(since)"
                        )
                    }
                )
            )
        }
        return Timeline(access, in: catalog)
    }

    private static func claims(
        _ timeline: Timeline,
        of customer: String = "cus_tg_1",
        app: String? = nil,
        at now: Int64 = 15,
        real: Int64 = 1_780_272_000_000,
        signer: AnswerSigner
    ) throws -> AnswerClaims {
        let real = Instant(milliseconds: real)
        return AnswerClaims(
            timeline,
            of: Customer.ID(customer),
            for: app,
            in: .sandbox,
            at: Instant(milliseconds: now),
            real,
            by: try signer.key(at: real)
        )
    }

    @Test("Its bytes are those of every other answer", arguments: texts)
    func same(_ text: String) throws {
        let list = Self.list(text)
        let answer = EntitlementAnswer(list, of: Customer.ID(text), signed: nil)
        #expect(try Data(answer.json()) == APIJSON.encode(list))
        #expect(try answer.list() == list)
    }

    @Test("Its token has the bytes that an encoder writes, and is signed", arguments: texts)
    func token(_ text: String) throws {
        let signer = AnswerSigner()
        let keys = ["Pro", "a_10", "a_2", "pro", "é", text + "x"]
        let timeline = Self.timeline(keys)
        #expect(timeline.entries.count == 36)
        for (app, now) in [(nil, 5), ("pk_test_\(text)", 15), (nil, 50)] as [(String?, Int64)] {
            let list = Self.list(text)
            let answer = EntitlementAnswer(
                list,
                of: Customer.ID(text),
                signed: try Self.claims(timeline, of: text, app: app, at: now, signer: signer)
            )
            let written = try APIJSON.decode(
                API.EntitlementList.self,
                from: Data(try answer.json())
            )
            #expect(try Data(answer.json()).count == APIJSON.encode(written).count)
            let compact = try #require(written.signedAnswer)
            let token = try #require(JSONWebToken(compact: compact))
            let key = try signer.key(at: Instant(milliseconds: 1_780_272_000_000))

            var intervals: [String: [API.SignedAnswer.Interval]] = [:]
            for entry in timeline.entries where entry.until.map({ $0.milliseconds > now }) ?? true {
                intervals[entry.lookupKey, default: []].append(
                    .init(
                        since: entry.since.milliseconds,
                        until: entry.until?.milliseconds,
                        ground: .payment
                    )
                )
            }
            let expected = try JSONWebToken.signingInput(
                header: .init(kid: key.id),
                claims: API.SignedAnswer(
                    sub: text,
                    aud: "tollgate",
                    azp: app,
                    environment: .sandbox,
                    iat: 1_780_272_000,
                    exp: 1_780_272_000 + 3 * 86_400,
                    at: now,
                    entitlements: intervals
                )
            )
            #expect(String(decoding: token.signingInput, as: UTF8.self) == expected)
            let set = signer.keySet(at: Instant(milliseconds: 0))
            let point = try #require(set[key.id]?.x963Representation)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            #expect(
                try P256.Signing.PublicKey(x963Representation: point)
                    .isValidSignature(signature, for: token.signingInput)
            )
            var unsigned = written
            unsigned.signedAnswer = nil
            #expect(unsigned == list)
        }
    }

    @Test("Base64url is what an encoder writes with other letters and without padding")
    func base64URL() {
        for count in 0..<70 {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
            let expected = data.base64EncodedString().map { character -> String in
                ["+": "-", "/": "_", "=": ""][character] ?? String(character)
            }.joined()
            #expect(Base64URL.encode(data) == expected)
            #expect(Base64URL.decode(Base64URL.encode(data)) == data)
        }
    }

    // MARK: - The tag

    @Test("Its tag is weak, and depends neither on the instant nor on who is asked")
    func tag() throws {
        func tag(_ name: String, of customer: String = "cus_tg_1", at: Int64 = 6) -> String {
            EntitlementAnswer(Self.list(name, at: at), of: Customer.ID(customer), signed: nil).tag
        }
        #expect(tag("pro").wholeMatch(of: /W\/"[0-9a-f]{32}"/) != nil)
        #expect(tag("pro") == tag("pro", at: 7))
        #expect(tag("pro") != tag("plus"))
        #expect(tag("pro") != tag("pro", of: "cus_tg_2"), "equal answers of two customers differ")
    }

    @Test("That of a signed answer also tells the app, the key, the hour and what is to come")
    func signedTag() throws {
        let (signer, other) = (AnswerSigner(), AnswerSigner())
        let hour: Int64 = 3_600_000
        let start: Int64 = 500_000 * hour
        func tag(
            _ keys: [String] = ["pro"],
            app: String? = nil,
            at now: Int64 = 15,
            real: Int64 = start,
            by signer: AnswerSigner
        ) throws -> String {
            EntitlementAnswer(
                Self.list("pro"),
                of: Customer.ID("cus_tg_1"),
                signed: try Self.claims(
                    Self.timeline(keys),
                    app: app,
                    at: now,
                    real: real,
                    signer: signer
                )
            ).tag
        }
        let first = try tag(by: signer)
        #expect(try tag(real: start + hour - 1, by: signer) == first)
        #expect(try tag(at: 16, by: signer) == first)
        let others = [
            try tag(["pro", "plus"], by: signer), try tag(app: "pk_test_a", by: signer),
            try tag(app: "pk_test_b", by: signer), try tag(at: 20, by: signer),
            try tag(real: start + hour, by: signer), try tag(by: other),
            EntitlementAnswer(Self.list("pro"), of: Customer.ID("cus_tg_1"), signed: nil).tag,
        ]
        #expect(Set(others + [first]).count == others.count + 1)
    }
}
