import Foundation
import Testing
import TollgateAPI

/// The bytes of our contract: whoever reads them may be older or newer than we are.
@Suite struct WireTests {
    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try APIJSON.encode(value), as: UTF8.self)
    }

    @Test func absentValuesThatMeanSomethingAreWrittenAsNull() throws {
        let list = API.EntitlementList(
            data: [
                API.Entitlement(
                    id: "ent_1",
                    lookupKey: "premium",
                    feature: "feat_1",
                    since: 1,
                    until: nil,
                    ground: .grant,
                    purchase: nil
                )
            ],
            environment: .sandbox,
            at: 2
        )
        #expect(
            try json(list)
                == #"{"at":2,"data":[{"feature":"feat_1","ground":"grant","id":"ent_1","#
                + #""lookup_key":"premium","purchase":null,"since":1,"until":null}],"#
                + #""environment":"sandbox"}"#
        )
        let decoded = try APIJSON.decode(API.EntitlementList.self, from: APIJSON.encode(list))
        #expect(decoded == list)
        var trial = list
        trial.data[0].willRenew = false
        trial.data[0].offer = "trial"
        let written = try json(trial)
        #expect(written.contains(#""offer":"trial","#) && written.contains(#""will_renew":false}"#))
        #expect(try APIJSON.decode(API.EntitlementList.self, from: Data(written.utf8)) == trial)
    }

    @Test func anErrorIsWrittenInItsEnvelope() throws {
        let error = APIError(
            type: .idempotencyError,
            code: .insufficientCoins,
            message: "5 short",
            param: nil
        )
        #expect(
            try json(error)
                == #"{"error":{"code":"insufficient_coins","message":"5 short","param":null,"#
                + #""type":"idempotency_error"}}"#
        )
    }

    @Test func anErrorThatIsUnknownOrIncompleteIsStillAnError() throws {
        let backend = Data(#"{"error":{"type":"no_session_present"}}"#.utf8)
        #expect(
            try APIJSON.decode(APIError.self, from: backend).type.rawValue == "no_session_present"
        )
        let new = Data(#"{"error":{"type":"t","code":"from_2030","message":"m","param":"p"}}"#.utf8)
        #expect(try APIJSON.decode(APIError.self, from: new).code == "from_2030")
    }

    @Test func aSessionHasStripesShape() throws {
        let session = API.CustomerSession(
            clientSecret: "cuss_secret_1",
            created: 1,
            expiresAt: 2,
            customer: "cus_1",
            livemode: false,
            components: .init(buyButton: .enabled)
        )
        #expect(
            try json(session)
                == #"{"client_secret":"cuss_secret_1","components":{"active_entitlements":"#
                + #"{"enabled":false},"buy_button":{"enabled":true},"customer_portal":"#
                + #"{"enabled":false}},"created":1,"customer":"cus_1","expires_at":2,"#
                + #""livemode":false,"object":"customer_session"}"#
        )
        let request = Data(
            #"{"customer":"cus_1","components":{"buy_button":{"enabled":true}}}"#.utf8
        )
        let decoded = try APIJSON.decode(API.CreateCustomerSessionRequest.self, from: request)
        #expect(decoded.components == .init(buyButton: .enabled))
    }

    @Test(arguments: [
        (Int64(5), Int64(5), Int64(0)), (-5, 0, 5), (0, 0, 0), (.max, .max, 0),
        (.min, 0, .max),
    ])
    func aBalanceGivesWhatCanBeSpentAndWhatIsOwed(
        _ balance: Int64,
        _ spendable: Int64,
        _ debt: Int64
    ) {
        let coins = API.CoinBalance(balance: balance)
        #expect(coins.spendable == spendable && coins.debt == debt)
    }

    @Test(arguments: [
        ("cus_1", "/v1/customers/cus_1"), ("a/b", "/v1/customers/a%2Fb"),
        ("..", "/v1/customers/%2E%2E"), (".", "/v1/customers/%2E"),
        ("x?y#z", "/v1/customers/x%3Fy%23z"), ("日本", "/v1/customers/%E6%97%A5%E6%9C%AC"),
        ("{id}", "/v1/customers/%7Bid%7D"),
    ])
    func anIDStaysOnePathComponent(_ id: String, _ path: String) {
        #expect(APIPath.customer.path(id: id) == path)
    }

    @Test func base64URLHasOneSpelling() throws {
        for length in 0..<40 {
            let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) })
            #expect(Base64URL.decode(Base64URL.encode(data)) == data)
        }
        for text in ["A", "AA==", "AA=", "A+", "A/", "A A", "é"] {
            #expect(Base64URL.decode(text) == nil, "\(text)")
        }
    }

    @Test func aSignedAnswerIsATimeline() throws {
        let answer = API.SignedAnswer(
            sub: "cus_1",
            aud: "pk_test_1",
            environment: .production,
            iat: 1,
            exp: 2,
            at: 3,
            entitlements: [
                "premium": [
                    .init(since: 10, until: 20, ground: .payment),
                    .init(since: 20, until: 25, ground: .renewal),
                ], "gold": [.init(since: 15, until: nil, ground: .grant)],
            ]
        )
        #expect(
            try json(answer)
                == #"{"at":3,"aud":"pk_test_1","entitlements":{"gold":[[15,null,"grant"]],"#
                + #""premium":[[10,20,"payment"],[20,25,"renewal"]]},"environment":"production","#
                + #""exp":2,"iat":1,"sub":"cus_1"}"#
        )
        #expect(try APIJSON.decode(API.SignedAnswer.self, from: APIJSON.encode(answer)) == answer)
        #expect(answer.active(at: 9) == [])
        #expect(answer.active(at: 10) == ["premium"])
        #expect(answer.active(at: 24) == ["gold", "premium"])
        #expect(answer.active(at: 25) == ["gold"])
    }

    @Test(arguments: ["", "a.b", "a.b.c", "..", "e30.e30.e30.e30", "e30=.e30.e30"])
    func whatIsNoTokenIsNil(_ text: String) {
        #expect(JSONWebToken(compact: text) == nil)
    }

    @Test func onlyAP256SigningKeyIsAKey() {
        let key = JSONWebKeySet.Key(
            kid: "1",
            x: Data(repeating: 1, count: 32),
            y: Data(repeating: 2, count: 32)
        )
        #expect(key.x963Representation?.count == 65)
        for change: (inout JSONWebKeySet.Key) -> Void in [
            { $0.crv = "P-384" }, { $0.kty = "RSA" }, { $0.alg = "none" }, { $0.use = "enc" },
            { $0.x = "AQ" }, { $0.y = "=" },
        ] {
            var changed = key
            change(&changed)
            #expect(changed.x963Representation == nil)
        }
    }

    @Test(arguments: [
        ("sk_test_1", APIKeyKind.secret), ("sk_live_1", .secret), ("pk_live_1", .publishable),
        ("cuss_secret_1", .customerSession), ("rk_test_1", nil), ("", nil),
    ])
    func aKeysPrefixTellsItsKind(_ key: String, _ kind: APIKeyKind?) {
        #expect(APIKeyKind(key) == kind)
    }
}
