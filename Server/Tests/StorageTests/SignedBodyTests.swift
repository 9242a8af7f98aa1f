import Foundation
import Storage
import Testing
import TollgateSimulation

@Suite struct SignedBodyTests {
    // MARK: - A notification like Apple's

    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// A header with three certificates, 4.5 KB of JSON or less, as text of a JWS.
    static func header(_ random: inout SplitMix64) -> String {
        let certificates = [1060, 720, 583].map { size in
            "\"\(Data(random.bytes(size)).base64EncodedString())\""
        }
        return base64URL(
            "{\"alg\":\"ES256\",\"x5c\":[\(certificates.joined(separator: ","))]}".utf8
        )
    }

    static func signed(_ payload: String, _ header: String, _ random: inout SplitMix64) -> String {
        "\(header).\(base64URL(payload.utf8)).\(base64URL(random.bytes(64)))"
    }

    static func notification(_ header: String, _ random: inout SplitMix64) -> [UInt8] {
        let transaction = """
            {"transactionId":"2000000\(random.next() % 1_000_000_000)",\
            "originalTransactionId":"2000000716834321","webOrderLineItemId":"2000000068212345",\
            "bundleId":"com.example.app","productId":"com.example.app.plus.monthly",\
            "subscriptionGroupIdentifier":"21506423","purchaseDate":1764633600000,\
            "originalPurchaseDate":1762041600000,"expiresDate":1767225600000,"quantity":1,\
            "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
            "appAccountToken":"7e3fb204-2e5f-4c8f-9a6e-0a4d5a3a7c11","signedDate":1764633601234,\
            "environment":"Production","transactionReason":"RENEWAL","storefront":"USA",\
            "storefrontId":"143441","price":9990,"currency":"USD","appTransactionId":"704289572311"}
            """
        let renewal = """
            {"originalTransactionId":"2000000716834321",\
            "autoRenewProductId":"com.example.app.plus.monthly",\
            "productId":"com.example.app.plus.monthly","autoRenewStatus":1,"renewalPrice":9990,\
            "currency":"USD","signedDate":1764633601234,"environment":"Production",\
            "recentSubscriptionStartDate":1762041600000,"renewalDate":1767225600000,\
            "appTransactionId":"704289572311"}
            """
        let payload = """
            {"notificationType":"DID_RENEW","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20",\
            "data":{"appAppleId":6443112233,"bundleId":"com.example.app","bundleVersion":"42",\
            "environment":"Production","signedTransactionInfo":"\(signed(transaction, header, &random))",\
            "signedRenewalInfo":"\(signed(renewal, header, &random))","status":1},"version":"2.0",\
            "signedDate":1764633601300}
            """
        return Array("{\"signedPayload\":\"\(signed(payload, header, &random))\"}".utf8)
    }

    static func expand(_ body: SignedBody) throws -> [UInt8] {
        try SignedBody.expand(body.compact) { id in body.segments.first { $0.id == id }?.bytes }
    }

    @Test func aNotificationShrinksToItsOwnContentAndComesBackExactly() throws {
        var random = SplitMix64(seed: 1)
        let header = Self.header(&random)
        let first = Self.notification(header, &random)
        let second = Self.notification(header, &random)
        #expect(first.count > 16_000)
        let bodies = [SignedBody(first), SignedBody(second)]
        #expect(bodies[0].compact.count < 2500)
        #expect(bodies[0].segments.map(\.bytes) == [Array(header.utf8)])
        #expect(bodies[0].segments == bodies[1].segments)
        #expect(bodies[0].compact != bodies[1].compact)
        #expect(try Self.expand(bodies[0]) == first)
        #expect(try Self.expand(bodies[1]) == second)
        #expect(
            try SignedBody.segmentIDs(in: bodies[0].compact) == bodies[0].segments.map(\.id)
        )
    }

    @Test func aSignedStringByItselfAndListsOfThemShrinkToo() throws {
        var random = SplitMix64(seed: 2)
        let headers = [Self.header(&random), Self.header(&random)]
        let one = Array(Self.signed("{\"a\":1}", headers[0], &random).utf8)
        let many = (0..<20).map { Self.signed("{\"a\":\($0)}", headers[$0 % 2], &random) }
        let page = Array(
            "{ \"signedTransactions\" : [\"\(many.joined(separator: "\", \""))\"]}\n".utf8
        )
        for (body, segments) in [(one, 1), (page, 2)] {
            let stored = SignedBody(body)
            #expect(stored.segments.count == segments)
            #expect(stored.compact.count < 3000)
            #expect(try Self.expand(stored) == body)
        }
    }

    @Test func whatHasNoSharedPartsIsKeptAsItIs() throws {
        for text in ["", "{}", "eyJ", "{\"id\":\"evt_1\",\"object\":\"event\"}", "eyJh.eyJh.c2ln"] {
            let stored = SignedBody(Array(text.utf8))
            #expect(stored.segments.isEmpty)
            #expect(stored.compact.count == text.utf8.count + 1)
            #expect(try Self.expand(stored) == Array(text.utf8))
        }
    }

    // MARK: - Laws

    @Test(arguments: UInt64(1)...40)
    func anyBytesComeBackExactly(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let header = Self.header(&random)
        for _ in 0..<25 {
            var body = Self.notification(header, &random)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                Self.damage(&body, &random)
            }
            let stored = SignedBody(body)
            let expanded = try Self.expand(stored)
            #expect(expanded == body, "seed \(seed)")
        }
    }

    /// Changes `body` where it hurts: a byte, a bit near a part's end, a cut, a doubling.
    static func damage(_ body: inout [UInt8], _ random: inout SplitMix64) {
        guard body.count > 2 else { return }
        let position = Int.random(in: 0..<body.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: body[position] = UInt8.random(in: 0...255, using: &random)
        case 1: body[position] = [46, 34, 61, 45, 65].randomElement(using: &random) ?? 0
        case 2: body.remove(at: position)
        case 3: body.removeLast(body.count - position)
        case 4: body.removeFirst(position)
        case 5:
            let dots = body.indices.filter { body[$0] == UInt8(ascii: ".") }
            guard let dot = dots.randomElement(using: &random), dot > 0 else { return }
            body[dot - 1] ^= 1
        default: body.insert(contentsOf: body[position...].prefix(3000), at: position)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func everyLengthOfPayloadAndSignatureComesBackExactly(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let header = Self.header(&random)
        for length in 0..<12 {
            let payload = Self.base64URL(random.bytes(length))
            let signature = Self.base64URL(random.bytes(12 - length))
            let body = Array("\(header).\(payload).\(signature)".utf8)
            let stored = SignedBody(body)
            #expect(stored.segments.count == 1)
            #expect(try Self.expand(stored) == body)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func aDamagedRowIsAnErrorOrOtherBytesButNeverACrash(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let stored = SignedBody(Self.notification(Self.header(&random), &random))
        for _ in 0..<200 {
            var compact = stored.compact
            if random.next().isMultiple(of: 2) {
                compact.removeLast(Int.random(in: 0...compact.count, using: &random))
            }
            if !compact.isEmpty {
                let position = Int.random(in: 0..<min(compact.count, 60), using: &random)
                compact[position] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(StorageError) {
                _ = try SignedBody.expand(compact) { _ in stored.segments[0].bytes }
            } catch {
                #expect(error.kind == .corrupt)
            }
        }
        #expect(throws: StorageError.self) {
            _ = try SignedBody.expand(stored.compact) { _ in nil }
        }
        #expect(throws: StorageError.self) { _ = try SignedBody.expand([]) { _ in nil } }
    }

    @Test func hostileBytesCostLittle() throws {
        let body = Array(String(repeating: "\"eyJ", count: 250_000).utf8)
        let start = ContinuousClock.now
        let stored = SignedBody(body)
        #expect(try Self.expand(stored) == body)
        let time = ContinuousClock.now - start
        #expect(time < .seconds(5))
    }
}
