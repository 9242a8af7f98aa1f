import AppStoreAPI
import Foundation
import Testing

/// What is read of a receipt without asking anybody.
@Suite struct ReceiptParsingTests {
    // MARK: - Encoding, both ways

    enum Lengths: String, CaseIterable { case definite, indefinite, long }

    static func value(_ tag: UInt8, _ content: [UInt8], _ lengths: Lengths = .definite) -> [UInt8] {
        if lengths == .indefinite, tag & 0x20 != 0 { return [tag, 0x80] + content + [0, 0] }
        let count = content.count
        if lengths == .long { return [tag, 0x84] + bytes(count, 4) + content }
        if count < 0x80 { return [tag, UInt8(count)] + content }
        return [tag, 0x82] + bytes(count, 2) + content
    }

    static func bytes(_ count: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }

    static func attribute(_ type: Int, _ value: [UInt8], _ lengths: Lengths) -> [UInt8] {
        self.value(
            0x30,
            self.value(0x02, bytes(type, 2), lengths) + self.value(0x02, [1], lengths)
                + self.value(0x04, value, lengths),
            lengths
        )
    }

    static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }

    static func purchase(_ id: String?, _ original: String?, _ lengths: Lengths) -> [UInt8] {
        var content = attribute(1702, text("monthly"), lengths)
        if let id { content += attribute(1703, text(id), lengths) }
        if let original { content += attribute(1705, text(original), lengths) }
        return value(0x31, content, lengths)
    }

    static func receipt(_ attributes: [UInt8], _ lengths: Lengths) -> String {
        let payload = value(0x31, attributes, lengths)
        // Xcode cuts the payload into pieces.
        let octets =
            lengths == .indefinite
            ? value(
                0x24,
                value(0x04, Array(payload.prefix(7)))
                    + value(0x04, Array(payload.dropFirst(7))),
                .indefinite
            )
            : value(0x04, payload, lengths)
        let data = value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
        let inner = value(0x30, data + value(0xA0, octets, lengths), lengths)
        let signed = value(
            0x30,
            value(0x02, [1]) + value(0x31, [], lengths) + inner + value(0x31, [], lengths),
            lengths
        )
        let type = value(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
        let whole = value(0x30, type + value(0xA0, signed, lengths), lengths)
        return Data(whole).base64EncodedString()
    }

    @Test(arguments: Lengths.allCases)
    func anAppReceiptNamesItsTransactions(_ lengths: Lengths) throws {
        let receipt = try AppStore.LocalReceipt(
            base64: Self.receipt(
                Self.attribute(0, Self.text("ProductionSandbox"), lengths)
                    + Self.attribute(2, Self.text("com.example.app"), lengths)
                    + Self.attribute(17, Self.purchase("2", "1", lengths), lengths)
                    + Self.attribute(17, Self.purchase("3", nil, lengths), lengths)
                    + Self.attribute(17, Self.purchase(nil, nil, lengths), lengths),
                lengths
            )
        )
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.environment == .sandbox)
        #expect(receipt.transactions.map(\.transactionID) == ["2", "3"])
        #expect(receipt.transactions.map(\.originalTransactionID) == ["1", nil])
        #expect(receipt.transactions.first?.productID == "monthly")
        #expect(receipt.anyTransactionID == "1")
        #expect(!receipt.isTransactionReceipt)
    }

    @Test(arguments: Lengths.allCases)
    func anAppReceiptMayHoldNoTransaction(_ lengths: Lengths) throws {
        let receipt = try AppStore.LocalReceipt(
            base64: Self.receipt(
                Self.attribute(2, Self.text("com.example.app"), lengths),
                lengths
            )
        )
        #expect(receipt.transactions.isEmpty && receipt.anyTransactionID == nil)
    }

    @Test func aTransactionReceiptNamesItsTransaction() throws {
        let info = """
            {
            \t"original-transaction-id" = "33993390";
            \t"transaction-id" = "33993399";
            \t"bid" = "com.example.app";
            \t"product-id" = "monthly";
            }
            """
        let text = """
            {
            \t"signature" = "AAAA";
            \t"purchase-info" = "\(Data(info.utf8).base64EncodedString())";
            \t"environment" = "Sandbox";
            \t"pod" = "100";
            }
            """
        let receipt = try AppStore.LocalReceipt(base64: Data(text.utf8).base64EncodedString())
        #expect(receipt.isTransactionReceipt)
        #expect(receipt.transactions.map(\.transactionID) == ["33993399"])
        #expect(receipt.anyTransactionID == "33993390")
        #expect(receipt.environment == .sandbox)
        #expect(receipt.bundleID == "com.example.app")
    }

    @Test func whatIsNoReceiptIsSaidToBeNone() {
        let whole = Self.receipt(
            Self.attribute(17, Self.purchase("2", "1", .definite), .definite),
            .definite
        )
        let bytes = Array(Data(base64Encoded: whole) ?? Data())
        var texts = ["", "*", "e30=", "MIA=", "AAAA", Data("{}".utf8).base64EncodedString()]
        // Cut anywhere, it is unreadable or at least harmless.
        for count in 0..<bytes.count {
            texts.append(Data(bytes.prefix(count)).base64EncodedString())
        }
        for text in texts {
            #expect(throws: AppStore.LocalReceipt.Unreadable.self) {
                _ = try AppStore.LocalReceipt(base64: text)
            }
        }
        // Any byte changed: an answer or an error, never a crash.
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                _ = try? AppStore.LocalReceipt(base64: Data(damaged).base64EncodedString())
            }
        }
    }

    @Test func nestingIsBounded() {
        let deep = [UInt8](repeating: 0, count: 200_000).indices.map {
            $0 % 2 == 0 ? UInt8(0x30) : 0x80
        }
        #expect(throws: AppStore.LocalReceipt.Unreadable.self) {
            _ = try AppStore.LocalReceipt(base64: Data(deep).base64EncodedString())
        }
    }
}
