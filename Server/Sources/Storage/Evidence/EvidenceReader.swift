package import TollgateCore

/// Reads the journal's evidence, and the answers that are given today, on one snapshot.
package struct EvidenceReader {
    let connection: any StorageConnection
    /// By which answers are read.
    package let history: CatalogHistory

    // MARK: - Evidence

    /// What rows are filed under, in order, each with all of its rows in the order of the journal.
    ///
    /// - Parameters:
    ///   - last: the last subject before.
    ///   - end: the last subject that is told.
    ///   - limit: how many rows are enough; all of a subject come together.
    package func subjects(
        after last: RowKey?,
        upTo end: RowKey?,
        limit: Int
    ) throws -> [(subject: RowKey, rows: [EvidenceRow])] {
        let rows = try connection.query(
            """
            SELECT \(EvidenceRow.columns) FROM journal
            WHERE subject > $1 AND subject <= $2 ORDER BY subject, id LIMIT $3
            """,
            [
                .blob(last?.bytes ?? []),
                // Longer than any key.
                .blob(end?.bytes ?? Array(repeating: 0xff, count: 17)),
                .integer(Int64(limit)),
            ]
        ).map { try EvidenceRow($0) }
        var subjects: [(subject: RowKey, rows: [EvidenceRow])] = []
        for row in rows {
            if subjects.last?.subject != row.subject { subjects.append((row.subject, [])) }
            subjects[subjects.count - 1].rows.append(row)
        }
        // The last one may have been cut off.
        if rows.count == limit, let last = subjects.popLast() {
            subjects.append((last.subject, try self.rows(of: last.subject)))
        }
        return subjects
    }

    /// Everything that is filed under `subject`.
    package func rows(of subject: RowKey) throws -> [EvidenceRow] {
        try connection.query(
            "SELECT \(EvidenceRow.columns) FROM journal WHERE subject = $1 ORDER BY id",
            [subject.value]
        ).map { try EvidenceRow($0) }
    }

    /// These rows, wherever they are filed.
    package func rows(_ ids: [Int64]) throws -> [EvidenceRow] {
        try connection.queryMany(
            "SELECT \(EvidenceRow.columns) FROM journal WHERE id = $1",
            ids.map { [.integer($0)] }
        ).flatMap { try $0.map { try EvidenceRow($0) } }
    }

    // MARK: - People

    /// Who registered these names.
    package func customers(knownAs names: [RowKey]) throws -> [RowKey: RowKey] {
        var customers: [RowKey: RowKey] = [:]
        let rows = try connection.queryMany(
            "SELECT customer FROM alias WHERE key = $1",
            names.map { [$0.value] }
        )
        for (name, row) in zip(names, rows) {
            customers[name] = try row.first.map { try RowKey(bytes: $0.bytes(0)) }
        }
        return customers
    }

    /// The id of the customer who is kept under this key; `nil` for nobody, and for the erased.
    package func customerID(_ customer: RowKey) throws -> Customer.ID? {
        let rows = try connection.query(
            "SELECT id FROM profile WHERE customer = $1 AND length(body) > 0",
            [customer.value]
        )
        return try rows.first.map { Customer.ID(try $0.text(0)) }
    }

    /// What is kept as this customer's.
    package func holdings(of person: EvidencePerson, limit: Int) throws -> [RowKey] {
        try connection.query(
            "SELECT purchase FROM holding WHERE holder = $1 ORDER BY purchase LIMIT $2",
            [person.row.value, .integer(Int64(limit))]
        ).map { try RowKey(bytes: $0.bytes(0)) }
    }

    // MARK: - Answers

    /// What the server answers these customers; nobody's answer is empty.
    package func answers(of people: [EvidencePerson]) throws -> [GivenAnswer] {
        let rows = try connection.queryMany(
            "SELECT answer FROM customer WHERE key = $1",
            people.map { [$0.row.value] }
        )
        return try zip(people, rows).map { person, row in
            try GivenAnswer(person, row.first?.bytes(0) ?? [], in: history.current)
        }
    }

    /// The answers of all customers, a page at a time.
    ///
    /// - Parameter last: the last row of the page before.
    package func answers(
        after last: RowKey?,
        limit: Int
    ) throws -> [(row: RowKey, answer: GivenAnswer)] {
        try connection.query(
            "SELECT key, environment, answer FROM customer WHERE key > $1 ORDER BY key LIMIT $2",
            [.blob(last?.bytes ?? []), .integer(Int64(limit))]
        ).map { row in
            let key = try RowKey(bytes: row.bytes(0))
            let environment = StoreEnvironment(number: try row.int64(1))
            // The mark of an environment takes itself back.
            let customer = key.inEnvironment(environment)
            let person = EvidencePerson(customer: customer, environment: environment)
            return (key, try GivenAnswer(person, row.bytes(2), in: history.current))
        }
    }
}

/// A customer in one environment.
package struct EvidencePerson: Hashable, Sendable {
    package let customer: RowKey
    package let environment: StoreEnvironment

    package init(customer: RowKey, environment: StoreEnvironment) {
        (self.customer, self.environment) = (customer, environment)
    }

    /// The key of the row with the answer.
    fileprivate var row: RowKey { customer.inEnvironment(environment) }
}

/// The answer that a customer is given in one environment.
package struct GivenAnswer: Sendable {
    /// One lookup key that is answered with yes.
    package struct Access: Hashable, Sendable {
        package var lookupKey: String
        package var since: Instant
        /// `nil`: for ever.
        package var until: Instant?
        /// The ground, such as `paid` or `grace`.
        package var ground: String
        /// The purchase that it rests on.
        package var purchase: String
        package var subject: RowKey
        /// The message that it rests on, by the store's id.
        package var evidence: String
    }

    package let person: EvidencePerson
    package let isErased: Bool
    private let timeline: Timeline

    fileprivate init(
        _ person: EvidencePerson,
        _ bytes: [UInt8],
        in catalog: Catalog
    ) throws {
        self.person = person
        isErased = bytes == CustomerAnswer.erasedBytes
        timeline =
            bytes.isEmpty || isErased
            ? Timeline([], in: Catalog())
            : try CustomerAnswer(reading: bytes).timeline(in: catalog)
    }

    /// What is answered with yes at `instant`, one for each lookup key.
    package func active(at instant: Instant) -> [Access] {
        timeline.active(at: instant).map { entry in
            Access(
                lookupKey: entry.lookupKey,
                since: entry.since,
                until: entry.until,
                ground: entry.ground.rawValue,
                purchase: entry.purchase.canonical,
                subject: RowKey(entry.purchase),
                evidence: entry.evidence
            )
        }
    }

    /// Why the server answers so about `lookupKey` at `instant`, and since when, as far as it is known.
    ///
    /// - Parameter access: what is answered with yes; `nil` for a no.
    package func reason(
        for lookupKey: String,
        _ access: Access?,
        at instant: Instant
    ) -> (text: String, since: Instant?) {
        if let access {
            let reason =
                access.until.map { "\(access.ground), by \(access.purchase) until \($0)" }
                ?? "\(access.ground), by \(access.purchase) for ever"
            return (reason, access.since)
        }
        let last = timeline.entries.filter { $0.lookupKey == lookupKey }
            .compactMap { entry in entry.until.map { ($0, entry.purchase.canonical) } }
            .filter { $0.0 <= instant }
            .max { $0.0 < $1.0 }
        guard let last else { return ("nothing that this customer holds gives it", nil) }
        return ("\(last.1) gave it until \(last.0)", last.0)
    }
}

// The key under which a customer is kept, and those of the names that stores know them by.
extension RowKey {
    package init(of customer: Customer.ID) { self.init(Holder.customer(customer)) }
    package init(appAccountToken token: String) { self.init(Holder.token(token.lowercased())) }
    package init(stripeCustomer id: String) { self.init(Holder.stripeCustomer(id)) }
    package init(clientReference reference: String) { self.init(Holder.reference(reference)) }
    package init(appUserID id: String) { self.init(Holder(appUserID: id)) }

    /// The key of the purchase that is called so.
    package init(purchaseNamed canonical: String) { self.init("purchase", canonical) }
}
