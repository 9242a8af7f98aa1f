import Crypto
import Foundation
import SwiftASN1
import X509

/// The receipt file on a device: PKCS#7 signed data around a set of numbered attributes.
struct AppReceipt: Sendable {
    /// `Production` or `ProductionSandbox`.
    var environment: String
    var bundleID: String
    /// The customer's id; on a device this attribute is opaque.
    var opaque: String

    enum Invalid: Error {
        case malformed
        case signature
    }

    private static let signedData: [UInt64] = [1, 2, 840, 113549, 1, 7, 2]
    private static let data: [UInt64] = [1, 2, 840, 113549, 1, 7, 1]
    private static let sha256: [UInt64] = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    private static let ecdsaWithSHA256: [UInt64] = [1, 2, 840, 10045, 4, 3, 2]

    /// Builds and signs the receipt of one customer, which leaves out finished consumables.
    static func sign(
        _ customer: Customer,
        in world: World,
        created: Int64,
        by authority: CertificateAuthority
    ) throws -> Data {
        let isSandbox = world.environment == .sandbox
        let opaque = Array(customer.id.utf8)
        let identity = Data(SHA256.hash(data: Data(opaque))).prefix(16)  // The device's.
        let hash = Insecure.SHA1.hash(data: identity + Data(opaque) + Data(world.bundleID.utf8))
        var attributes: [DERValue] = [
            attribute(0, .utf8(isSandbox ? "ProductionSandbox" : "Production")),
            attribute(2, .utf8(world.bundleID)),
            attribute(3, .utf8("1")),
            attribute(4, raw: opaque),
            attribute(5, raw: Array(hash)),
            attribute(12, .ia5(LegacyDate.rfc3339(created))),
            attribute(19, .utf8("1.0")),
            attribute(21, .ia5("")),
        ]
        let receipt = LegacyReceipt(world: world)
        attributes += world.transactionsOf(customer.id)
            .filter { $0.kind != .consumable || !$0.isFinished }
            .map { attribute(17, inApp($0, bought: receipt.purchaseDate(of: $0))) }
        let payload = DERValue.set(attributes).bytes
        let signature = try authority.signingKey.signature(for: Data(payload))
        let leaf = try Certificate(
            derEncoded: Array(authority.snapshot.leaf.certificate)
        )
        var issuer = DER.Serializer()
        try issuer.serialize(leaf.issuer)
        let signer = DERValue.sequence([
            .integer(1),
            DERValue(
                tag: 0x30,
                content: issuer.serializedBytes
                    + DERValue.unsigned(Array(leaf.serialNumber.bytes)).bytes
            ),
            .sequence([.identifier(sha256), .null]),
            .sequence([.identifier(ecdsaWithSHA256)]),
            .octets(Array(signature.derRepresentation)),
        ])
        let certificates = [
            authority.snapshot.leaf, authority.snapshot.intermediate, authority.snapshot.root,
        ].flatMap { Array($0.certificate) }
        let body = DERValue.sequence([
            .integer(1),
            .set([.sequence([.identifier(sha256), .null])]),
            .sequence([.identifier(data), .tagged(0, DERValue.octets(payload).bytes)]),
            .tagged(0, certificates),
            .set([signer]),
        ])
        return Data(
            DERValue.sequence([.identifier(signedData), .tagged(0, body.bytes)]).bytes
        )
    }

    /// Reads a receipt back.
    /// - Parameter key: checks the signature; without one it is only read.
    init(_ bytes: Data, signedBy key: P256.Signing.PublicKey?) throws {
        guard let body = DERValue(Array(bytes))?.children?.last?.children?.first?.children,
            body.count >= 5, let content = body[2].children?.last?.children?.first,
            let signer = body[body.count - 1].children?.first?.children,
            let signature = signer.last?.content,
            let attributes = DERValue(content.content)?.children
        else { throw Invalid.malformed }
        var values: [Int64: [UInt8]] = [:]
        for attribute in attributes {
            guard let parts = attribute.children, parts.count == 3, let type = parts[0].number
            else { throw Invalid.malformed }
            values[type] = parts[2].content
        }
        func text(_ type: Int64) throws -> String {
            guard let value = values[type].flatMap({ DERValue($0) }) else {
                throw Invalid.malformed
            }
            return String(decoding: value.content, as: UTF8.self)
        }
        environment = try text(0)
        bundleID = try text(2)
        opaque = String(decoding: values[4] ?? [], as: UTF8.self)
        guard let key else { return }
        guard let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            key.isValidSignature(parsed, for: Data(content.content))
        else { throw Invalid.signature }
    }

    private static func attribute(_ type: Int64, _ value: DERValue) -> DERValue {
        attribute(type, raw: value.bytes)
    }

    private static func attribute(_ type: Int64, raw: [UInt8]) -> DERValue {
        .sequence([.integer(type), .integer(1), .octets(raw)])
    }

    private static func inApp(_ transaction: Transaction, bought: Int64) -> DERValue {
        func date(_ instant: Int64?) -> DERValue {
            .ia5(instant.map(LegacyDate.rfc3339) ?? "")
        }
        let isTrial = transaction.offer.map {
            $0.kind == .introductory && $0.discount == .freeTrial
        }
        var attributes: [DERValue] = [
            attribute(1701, .integer(Int64(transaction.quantity))),
            attribute(1702, .utf8(transaction.productID)),
            attribute(1703, .utf8(transaction.id)),
            attribute(1704, date(bought)),
            attribute(1705, .utf8(transaction.originalID)),
            attribute(1706, date(transaction.originalPurchaseDate)),
            attribute(1708, date(transaction.expiresDate)),
            attribute(1711, .integer(transaction.webOrderLineItemID.flatMap { Int64($0) } ?? 0)),
            attribute(1712, date(transaction.revocation?.date)),
            attribute(1713, .integer(isTrial == true ? 1 : 0)),
            attribute(1719, .integer(transaction.offer?.kind == .introductory ? 1 : 0)),
        ]
        let kinds: [Product.Kind: Int64] = [
            .nonConsumable: 0, .consumable: 1, .nonRenewing: 2, .autoRenewable: 3,
        ]
        attributes.append(attribute(1707, .integer(kinds[transaction.kind] ?? 0)))
        if transaction.offer?.kind == .promotional, let id = transaction.offer?.id {
            attributes.append(attribute(1721, .utf8(id)))
        }
        return .set(attributes)
    }
}
