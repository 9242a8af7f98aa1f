import Crypto
import Foundation

/// The receipt of one transaction as iOS 6 had it: property lists in text form, Base64 within
/// Base64.
struct TransactionReceipt {
    var transactionID: String
    var environment: String

    /// Builds and signs the receipt.
    static func sign(
        _ transaction: Transaction,
        in world: World,
        by authority: CertificateAuthority
    ) throws -> Data {
        var info = LegacyReceipt(world: world).entry(transaction)
        info["bid"] = world.bundleID
        info["bvrs"] = "1"
        info["item-id"] = String(world.appAppleID)
        let hyphenated = Dictionary(
            info.map { ($0.key.replacingOccurrences(of: "_", with: "-"), $0.value) }
        ) { first, _ in first }
        let purchaseInfo = Data(list(hyphenated).utf8).base64EncodedString()
        let signature = try authority.signingKey.signature(for: Data(purchaseInfo.utf8))
        return Data(
            list([
                "signature": signature.derRepresentation.base64EncodedString(),
                "purchase-info": purchaseInfo,
                "environment": world.environment == .sandbox ? "Sandbox" : "Production",
                "pod": "100", "signing-status": "0",
            ]).utf8
        )
    }

    init(_ bytes: Data, signedBy key: P256.Signing.PublicKey) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let info = Self.value("purchase-info", in: text),
            let inner = Data(base64Encoded: info),
            let id = Self.value("transaction-id", in: String(decoding: inner, as: UTF8.self))
        else { throw AppReceipt.Invalid.malformed }
        guard let signature = Self.value("signature", in: text),
            let bytes = Data(base64Encoded: signature),
            let parsed = try? P256.Signing.ECDSASignature(derRepresentation: bytes),
            key.isValidSignature(parsed, for: Data(info.utf8))
        else { throw AppReceipt.Invalid.signature }
        transactionID = id
        environment = Self.value("environment", in: text) ?? "Production"
    }

    private static func list(_ entries: [String: String]) -> String {
        let lines = entries.sorted { $0.key < $1.key }
            .map { "\t\"\($0.key)\" = \"\($0.value)\";\n" }
        return "{\n" + lines.joined() + "}"
    }

    /// The value of `"name" = "value";`.
    private static func value(_ name: String, in text: String) -> String? {
        guard let start = text.range(of: "\"\(name)\" = \"") else { return nil }
        let rest = text[start.upperBound...]
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }
}
