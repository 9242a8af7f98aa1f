import Storage
import TollgateService
import SandboxClock
import AppStoreSimulator
import Crypto
import Foundation
import HTTPTypes
import Testing
import TollgateSimulation

@Suite("Offers")
struct OfferTests {
    static let monthly = ProductTypeTests.monthly
    private static let promotional =
        "{\"type\":\"promotional_offer\",\"product\":\"pro_monthly\",\"offer\":\"come_back\"}"

    /// The wall clock of offers is checked by the store in real time.
    private static func run(_ test: @Sendable (TestServer, Buyer) async throws -> Void)
        async throws
    {
        try await TestServer.run { server in
            let real = Int64(Date().timeIntervalSince1970)
            server.wall.advance(seconds: real - TestServer.start / 1000)
            var behaviour = SimulatedAppStore.Behaviour()
            behaviour.requiresOfferSignatures = true
            await server.appStore.setBehaviour(behaviour)
            try await test(server, try await Buyer(server))
        }
    }

    private static func proof(_ answer: Answer) throws -> SimulatedAppStore.OfferProof {
        let offer = answer.json["promotional_offer"]
        return .signature(
            keyID: try #require(offer["key_id"].string),
            nonce: try #require(offer["nonce"].string),
            timestamp: try #require(offer["timestamp"].integer),
            signature: try #require(offer["signature"].string)
        )
    }

    @Test("O1: a promotional offer is redeemed with either form of the signature, once each")
    func promotionalOffer() async throws {
        try await Self.run { server, buyer in
            let signed = try await server.post(
                "/v1/app_store/offer_signatures",
                as: buyer.session,
                Self.promotional
            )
            #expect(signed.status == 200)
            #expect(signed.json["app_account_token"].string == buyer.token)
            let jws = try #require(signed.json["compact_jws"].string)
            for proof in [try Self.proof(signed), .compactJWS(jws)] {
                let account = try await server.appStore.createCustomer().id
                func buy() async throws -> SimulatedAppStore.SignedTransaction {
                    try await server.appStore.buy(
                        Self.monthly,
                        customer: account,
                        appAccountToken: buyer.token,
                        offer: "come_back",
                        proof: proof
                    )
                }
                let bought = try await buy()
                let transaction = try await server.appStore.transactions(customer: account)[0]
                #expect(transaction.offer?.id == "come_back")
                #expect(transaction.price == 4990)
                #expect(transaction.id == bought.transactionID)
                await #expect(throws: SimulatedAppStore.Refusal.self) { try await buy() }
            }
        }
    }

    @Test("O1: without a signature, or with one for something else, the store refuses")
    func needsASignature() async throws {
        try await Self.run { server, buyer in
            let signed = try await server.post(
                "/v1/app_store/offer_signatures",
                as: buyer.session,
                Self.promotional
            )
            let proof = try Self.proof(signed)
            let account = try await server.appStore.createCustomer().id
            let attempts: [(String?, SimulatedAppStore.OfferProof?)] = [
                (buyer.token, nil), (UUID().uuidString, proof),
                (
                    buyer.token,
                    .compactJWS(try #require(signed.json["compact_jws"].string) + "A")
                ),
            ]
            for (token, proof) in attempts {
                await #expect(throws: SimulatedAppStore.Refusal.self) {
                    _ = try await server.appStore.buy(
                        Self.monthly,
                        customer: account,
                        appAccountToken: token,
                        offer: "come_back",
                        proof: proof
                    )
                }
            }
        }
    }

    @Test("O1: the introductory offer is for who never had one in the group")
    func introductoryOffer() async throws {
        try await Self.run { server, buyer in
            try await server.offerTrial()
            let account = try await server.appStore.customer(buyer.account)
            let body =
                "{\"type\":\"introductory_offer_eligibility\",\"product\":\"pro_monthly\""
            let unnamed = try await server.post(
                "/v1/app_store/offer_signatures",
                as: buyer.session,
                body + "}"
            )
            #expect(unnamed.status == 403 && unnamed.code == "offer_ineligible")
            // By another account here the same buyer would have a second trial.
            let foreign = try await server.post(
                "/v1/app_store/offer_signatures",
                as: buyer.session,
                body + ",\"transaction_id\":\"\(account.appTransactionID)\"}"
            )
            #expect(foreign.status == 403 && foreign.code == "offer_ineligible")
            _ = try await server.appStore.buy(
                Self.monthly,
                customer: buyer.account,
                appAccountToken: buyer.token
            )
            try await server.deliverNotifications()
            let second = try await server.post(
                "/v1/app_store/offer_signatures",
                as: buyer.session,
                body + "}"
            )
            #expect(second.json["allows_introductory_offer"].bool == false)
            // Whom the server refuses it gets none, though the store knows of no earlier one.
            let other = try await server.appStore.createCustomer()
            await #expect(throws: SimulatedAppStore.Refusal.self) {
                _ = try await server.appStore.buy(
                    Self.monthly,
                    customer: other.id,
                    proof: .compactJWS(try #require(second.json["compact_jws"].string))
                )
            }
        }
    }

    @Test(
        "O1: only what the catalog offers is signed, for who is signed in",
        arguments: [
            ("{\"type\":\"promotional_offer\",\"product\":\"pro_monthly\"}", 400),
            (
                "{\"type\":\"promotional_offer\",\"product\":\"pro_monthly\",\"offer\":\"all_free\"}",
                404
            ),
            ("{\"type\":\"promotional_offer\",\"product\":\"x\",\"offer\":\"come_back\"}", 404),
            ("{\"type\":\"gift\",\"product\":\"pro_monthly\"}", 400),
        ]
    )
    func refused(_ body: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: server.customer())
            let answer = try await server.post(
                "/v1/app_store/offer_signatures",
                as: session,
                body
            )
            #expect(answer.status == status)
            let visitor = try await server.post(
                "/v1/app_store/offer_signatures",
                as: TestServer.publishableKey,
                Self.promotional
            )
            #expect(visitor.status == 401)
        }
    }
}
