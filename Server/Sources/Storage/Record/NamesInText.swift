internal import Foundation
internal import TollgateCore

/// Finds names of customers in bodies that nobody could read, by the hashes of these names.
struct NamesInText {
    private let hashes: Set<RowKey>

    /// - Parameter hashes: of the names that are looked for.
    init(_ hashes: Set<RowKey>) {
        self.hashes = hashes
    }

    /// The hashes of a text if it is a name, by the kind of name that it may be.
    private static func hashes(of text: String) -> [RowKey] {
        [
            RowKey(Holder.token(text.lowercased())), RowKey(Holder.stripeCustomer(text)),
            RowKey(Holder.reference(text)), RowKey(Holder.appUser(text)),
        ]
    }

    private func isName(_ text: String) -> Bool {
        Self.hashes(of: text).contains { hashes.contains($0) }
    }

    /// Whether a body names a customer who was erased.
    static func hasErased(in body: [UInt8], _ connection: any StorageConnection) throws -> Bool {
        let keys = Set(texts(in: body).flatMap { hashes(of: $0) }).sorted()
        let customers = try connection.queryMany(
            "SELECT customer FROM alias WHERE key = $1",
            keys.map { [$0.value] }
        )
        let erased = try connection.queryMany(
            "SELECT 1 FROM profile WHERE customer = $1 AND length(body) = 0",
            customers.compactMap(\.first?.values)
        )
        return erased.contains { !$0.isEmpty }
    }

    /// Whether such a name stands in a body: as a text of its JSON, or of what is signed in it.
    func stand(in body: [UInt8]) -> Bool {
        Self.texts(in: body).contains { isName($0) }
    }

    /// Whom an event or an object of Stripe's is about, hashed: a customer, or where it names none
    /// the payment.
    static func payer(in body: [UInt8]) -> RowKey? {
        let texts = texts(in: body, depth: 3)
        if let customer = texts.filter({ $0.hasPrefix("cus_") }).min() {
            return RowKey(Holder.stripeCustomer(customer))
        }
        let isLive = String(decoding: body, as: UTF8.self).replacing(" ", with: "")
            .contains("\"livemode\":true")
        return texts.filter { $0.hasPrefix("pi_") && !$0.contains("_secret_") }.min().map {
            RowKey(
                Purchase.Key(
                    store: .stripe,
                    environment: isLive ? .production : .sandbox,
                    application: "-",
                    id: $0
                )
            )
        }
    }

    /// Every text of a body's JSON; the body may be damaged.
    static func texts(in body: [UInt8], depth: Int = 0) -> Set<String> {
        var texts: Set<String> = []
        for part in body.split(separator: UInt8(ascii: "\"")) where part.count <= 300 {
            texts.insert(String(decoding: part, as: UTF8.self))
        }
        guard depth < 3 else { return texts }
        // The parts of what is signed, in base64url.
        for part in body.split(whereSeparator: { !isBase64URL($0) }) where part.count > 40 {
            var text = String(decoding: part, as: UTF8.self)
                .replacing("-", with: "+").replacing("_", with: "/")
            text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            guard let decoded = Data(base64Encoded: text) else { continue }
            texts.formUnion(Self.texts(in: Array(decoded), depth: depth + 1))
        }
        return texts
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Drops questions to stores that name the customer.
    func removeQuestions(_ connection: any StorageConnection) throws {
        let rows = try connection.query("SELECT key, object FROM wanted")
        try connection.executeMany(
            "DELETE FROM wanted WHERE key = $1",
            try rows.filter { row in
                try row.text(1).split(separator: " ").contains { isName(String($0)) }
            }.map { [.blob(try $0.bytes(0))] }
        )
    }

    /// Takes the bodies of parked messages that name the customer; that they came stays known.
    func removeParked(_ connection: any StorageConnection) throws {
        var last: [UInt8] = []
        while true {
            let rows = try connection.query(
                "SELECT key, body FROM parked WHERE key > $1 ORDER BY key LIMIT 100",
                [.blob(last)]
            ).map { (key: try $0.bytes(0), body: try $0.bytes(1)) }
            guard let end = rows.last?.key else { return }
            try connection.executeMany(
                "UPDATE parked SET body = $2 WHERE key = $1",
                rows.filter { stand(in: $0.body) }.map { [.blob($0.key), .blob([])] }
            )
            last = end
        }
    }
}
