import AppStoreSimulator
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite struct ServerAPI {
    @Test func onlyAGoodTokenIsLetIn() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        let bought = try await test.store.buy("monthly", customer: customer.id)
        let path = "/inApps/v1/transactions/\(bought.transactionID)"
        try await listening(to: test.store.router()) { port in
            let key = await test.store.apiKey
            let good = Token(key)
            let url = "http://127.0.0.1:\(port)\(path)"
            #expect(try await get(url, good).status == 200)
            #expect(try await get(url, nil).status == 401)
            var bad: [Token] = []
            for change: (inout Token) -> Void in [
                { $0.keyID = "AAAAAAAAAA" }, { $0.issuer = UUID().uuidString },
                { $0.bundleID = "com.example.other" }, { $0.audience = "appstoreconnect-v2" },
                { $0.life = 3_601 }, { $0.age = 400 }, { $0.algorithm = "none" },
                { $0.signer = P256.Signing.PrivateKey() },
            ] {
                var token = good
                change(&token)
                bad.append(token)
            }
            for token in bad {
                let answer = try await get(url, token)
                #expect(answer.status == 401)
                #expect(!answer.body.contains("errorCode"))
            }
        }
    }

    @Test func errorsCarryApplesCodes() async throws {
        let test = try await TestStore()
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("monthly", customer: customer.id)
        try await listening(to: test.store.router()) { port in
            let token = Token(await test.store.apiKey)
            for (path, status, code) in [
                ("v1/transactions/abc", 400, 4_000_006),
                ("v1/transactions/42", 404, 4_040_010),
                ("v1/transactions/\(customer.appTransactionID)", 400, 4_000_048),
                ("v1/subscriptions/42", 404, 4_040_010),
                ("v1/subscriptions/\(customer.appTransactionID)?status=9", 400, 4_000_031),
                ("v2/history/\(customer.appTransactionID)?sort=UP", 400, 4_000_021),
                ("v2/history/\(customer.appTransactionID)?revision=x", 400, 4_000_005),
                ("v1/notifications/test/nonsense", 400, 4_000_020),
            ] {
                let answer = try await get("http://127.0.0.1:\(port)/inApps/\(path)", token)
                #expect(answer.status == status, "\(path)")
                #expect(answer.body.contains("\"errorCode\":\(code)"), "\(path) \(answer.body)")
            }
        }
    }

    @Test func theControlInterfacePlaysAWholeStory() async throws {
        let test = try await TestStore()
        try await listening(to: test.store.router()) { port in
            let base = "http://127.0.0.1:\(port)/sandbox"
            let token = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
            let bought = try await post(
                "\(base)/purchases",
                #"{"app_account_token":"\#(token)","product_id":"monthly"}"#
            )
            #expect(bought.status == 201)
            let customer = try #require(await test.store.customer(appAccountToken: token))
            let original = try #require(
                try await test.store.transactions(customer: customer.id).first
            ).originalID
            #expect(
                try await post("\(base)/subscriptions/\(original)/cancel", "").status == 200
            )
            #expect(
                try await post("\(base)/clock/advance", #"{"by":3000000000}"#).body
                    == #"{"now":\#(TestStore.start + 3_000_000_000)}"#
            )
            #expect(await test.told().last == "EXPIRED/VOLUNTARY")
            #expect(
                try await post("\(base)/subscriptions/\(original)/cancel", "").status == 409
            )
            #expect(try await post("\(base)/subscriptions/1/cancel", "").status == 404)
            #expect(try await post("\(base)/purchases", "{").status == 400)
        }
    }
}

/// A token for the App Store Server API, with each part open to be spoilt.
struct Token {
    var keyID: String
    var issuer: String
    var bundleID = "com.example.app"
    var audience = "appstoreconnect-v1"
    var algorithm = "ES256"
    var life: Double = 300
    var age: Double = 0
    var signer: P256.Signing.PrivateKey?

    init(_ key: SimulatedAppStore.APIKey) {
        keyID = key.keyID
        issuer = key.issuerID
        signer = try? P256.Signing.PrivateKey(pemRepresentation: key.privateKeyPEM)
    }

    func text() throws -> String {
        let issued = Int(Date().timeIntervalSince1970 - age)
        let header = #"{"alg":"\#(algorithm)","kid":"\#(keyID)","typ":"JWT"}"#
        let claims =
            #"{"iss":"\#(issuer)","iat":\#(issued),"exp":\#(issued + Int(life)),"#
            + #""aud":"\#(audience)","bid":"\#(bundleID)"}"#
        let signed = Self.encode(Data(header.utf8)) + "." + Self.encode(Data(claims.utf8))
        let signature = try signer?.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + Self.encode(signature ?? Data())
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

func get(_ url: String, _ token: Token?) async throws -> (status: Int, body: String) {
    var request = HTTPClientRequest(url: url)
    if let token {
        request.headers.add(name: "Authorization", value: "Bearer \(try token.text())")
    }
    return try await send(request)
}

func post(_ url: String, _ body: String) async throws -> (status: Int, body: String) {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.body = .bytes(ByteBuffer(string: body))
    return try await send(request)
}

private func send(_ request: HTTPClientRequest) async throws -> (status: Int, body: String) {
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
    let body = try await response.body.collect(upTo: 1 << 20)
    return (Int(response.status.code), String(buffer: body))
}
