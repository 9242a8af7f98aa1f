import Foundation

extension AppStore {
    /// What can be read of a legacy receipt without asking anybody.
    ///
    /// Nothing here is verified: it only says whom to ask the App Store about.
    public struct LocalReceipt: Hashable, Sendable {
        /// Where it was made: `Production`, `ProductionSandbox`, `Sandbox`, `Xcode`.
        public let environmentName: String?
        /// The app.
        public let bundleID: String?
        /// One for each purchase in it, in the receipt's order.
        public let transactions: [Transaction]
        /// Whether it is of the form of iOS 6, one transaction each.
        public let isTransactionReceipt: Bool

        /// A purchase in a receipt.
        public struct Transaction: Hashable, Sendable {
            public let transactionID: String?
            public let originalTransactionID: String?
            public let productID: String?
        }

        /// A transaction to ask about: any one of them leads to the customer.
        public var anyTransactionID: String? {
            transactions.lazy.compactMap { $0.originalTransactionID ?? $0.transactionID }.first
        }

        /// The environment to ask first, as far as the receipt says it.
        public var environment: Environment? {
            switch environmentName {
            case "Production"?, "ProductionVPP"?: .production
            case "Sandbox"?, "ProductionSandbox"?, "ProductionVPPSandbox"?: .sandbox
            default: nil
            }
        }

        /// The longest receipt that is read, in bytes of Base64.
        public static let maximumLength = 8 << 20

        /// Reads a receipt as an app posts it, in Base64.
        ///
        /// - Throws: `Unreadable`.
        public init(base64 text: String) throws(Unreadable) {
            guard text.utf8.count <= Self.maximumLength else { throw Unreadable.tooLong }
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
                !data.isEmpty
            else { throw Unreadable.notBase64 }
            if let old = TransactionReceiptText(data) {
                isTransactionReceipt = true
                environmentName = old.environment ?? "Production"
                bundleID = old.bundleID
                transactions = [
                    Transaction(
                        transactionID: old.transactionID,
                        originalTransactionID: old.originalTransactionID,
                        productID: old.productID
                    )
                ]
                return
            }
            guard let attributes = AppReceiptAttributes(Array(data)) else {
                throw Unreadable.noReceipt
            }
            isTransactionReceipt = false
            environmentName = attributes.environment
            bundleID = attributes.bundleID
            transactions = attributes.transactions
        }

        /// Why a receipt cannot be read.
        public enum Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
            case tooLong, notBase64, noReceipt

            public var description: String {
                switch self {
                case .tooLong: "the receipt is longer than eight megabytes"
                case .notBase64: "the receipt is not in Base64"
                case .noReceipt: "this is neither an app receipt nor a transaction receipt"
                }
            }
        }
    }
}

/// The attributes of an app receipt: PKCS #7 around a set of (type, version, value).
struct AppReceiptAttributes {
    var environment: String?
    var bundleID: String?
    var transactions: [AppStore.LocalReceipt.Transaction] = []

    /// PKCS #7 signed data and data.
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        // ContentInfo { contentType, [0] SignedData { version, digests, ContentInfo { type, [0] } } }
        guard let outer = BERValue(&rest), outer.tag == BERValue.sequence,
            let info = outer.elements, info.count >= 2,
            info[0].tag == BERValue.objectIdentifier,
            info[0].content.elementsEqual(Self.signedData),
            info[1].tag == BERValue.contextZero, let signed = info[1].elements?.first?.elements,
            let inner = signed.first(where: { $0.tag == BERValue.sequence })?.elements,
            inner.count >= 2, inner[1].tag == BERValue.contextZero,
            let payload = inner[1].elements?.first?.octets()
        else { return nil }
        guard let attributes = Self.attributes(payload) else { return nil }
        for (type, value) in attributes {
            switch type {
            case 0: environment = Self.text(value)
            case 2: bundleID = Self.text(value)
            case 17: transactions += Self.transaction(value).map { [$0] } ?? []
            default: break
            }
        }
    }

    private static func attributes(_ bytes: [UInt8]) -> [(type: Int64, value: [UInt8])]? {
        var rest = bytes[...]
        guard let set = BERValue(&rest), set.tag == BERValue.set, let elements = set.elements else {
            return nil
        }
        var attributes: [(type: Int64, value: [UInt8])] = []
        for element in elements {
            guard let fields = element.elements, fields.count >= 3, let type = fields[0].int64,
                let value = fields[2].octets()
            else { continue }
            attributes.append((type, value))
        }
        return attributes
    }

    private static func transaction(_ value: [UInt8]) -> AppStore.LocalReceipt.Transaction? {
        guard let attributes = attributes(value) else { return nil }
        func text(_ type: Int64) -> String? {
            attributes.first { $0.type == type }.flatMap { Self.text($0.value) }
        }
        let id = text(1703)
        let original = text(1705)
        guard id != nil || original != nil else { return nil }
        return AppStore.LocalReceipt.Transaction(
            transactionID: id,
            originalTransactionID: original,
            productID: text(1702)
        )
    }

    private static func text(_ value: [UInt8]) -> String? {
        var rest = value[...]
        return BERValue(&rest)?.string
    }
}

/// The receipt of one transaction as iOS 6 had it: a property list in text form around another.
struct TransactionReceiptText {
    var environment: String?
    var bundleID: String?
    var productID: String?
    var transactionID: String?
    var originalTransactionID: String?

    init?(_ data: Data) {
        guard data.first == UInt8(ascii: "{"),
            let text = String(bytes: data, encoding: .utf8),
            let info = Self.value("purchase-info", in: text),
            let inner = Data(base64Encoded: info, options: .ignoreUnknownCharacters),
            let purchase = String(bytes: inner, encoding: .utf8)
        else { return nil }
        environment = Self.value("environment", in: text)
        bundleID = Self.value("bid", in: purchase)
        productID = Self.value("product-id", in: purchase)
        transactionID = Self.value("transaction-id", in: purchase)
        originalTransactionID = Self.value("original-transaction-id", in: purchase)
        guard transactionID != nil || originalTransactionID != nil else { return nil }
    }

    /// The value of `"name" = "value";`.
    private static func value(_ name: String, in text: String) -> String? {
        let needle = Array("\"\(name)\"".utf8)
        let bytes = Array(text.utf8)
        var from = 0
        while let start = position(of: needle, in: bytes, from: from) {
            from = start + needle.count
            var at = from
            func skipSpaces() { while at < bytes.count, bytes[at] <= 0x20 { at += 1 } }
            skipSpaces()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else { continue }
            at += 1
            skipSpaces()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { continue }
            at += 1
            guard let end = bytes[at...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            return String(decoding: bytes[at..<end], as: UTF8.self)
        }
        return nil
    }

    private static func position(of needle: [UInt8], in bytes: [UInt8], from: Int) -> Int? {
        guard let first = needle.first else { return nil }
        var from = from
        while from + needle.count <= bytes.count,
            let start = bytes[from...].firstIndex(of: first), start + needle.count <= bytes.count
        {
            if bytes[start..<start + needle.count].elementsEqual(needle) { return start }
            from = start + 1
        }
        return nil
    }
}
