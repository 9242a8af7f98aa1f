internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// One statement of a customer, as its journal row keeps it.
///
/// It is personal data, so it is the row's body, which an erasure removes.
private struct ConsentStatement: Codable {
    var terms: API.Consents.Acceptance?
    var age: API.Consents.AgeStatement?
    var parentalConsent: Bool?

    enum CodingKeys: String, CodingKey {
        case terms, age
        case parentalConsent = "parental_consent"
    }
}

/// The terms that customers accepted, the ages they stated, and whether a parent agrees.
public struct Consents: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource

    /// What `customer` has agreed to, and what the catalog asks for today.
    public func given(by customer: Customer.ID) async throws -> API.Consents {
        try await read(customer).consents
    }

    private func read(
        _ customer: Customer.ID
    ) async throws -> (consents: API.Consents, ages: StatedAges) {
        var ages = StatedAges()
        var consents = API.Consents(
            terms: [],
            required: API.RequiredConsents(records.history.current.gates)
        )
        for said in try await records.journal.said(by: customer) {
            guard
                let statement = try? APIJSON.decode(ConsentStatement.self, from: Data(said.body))
            else { continue }
            if var acceptance = statement.terms {
                acceptance.acceptedAt = said.stated.milliseconds
                consents.terms.append(acceptance)
            }
            if var age = statement.age {
                age.statedAt = said.stated.milliseconds
                ages.add(age)
            }
            if let isGiven = statement.parentalConsent {
                consents.parentalConsent = .init(
                    isGiven: isGiven,
                    statedAt: said.stated.milliseconds
                )
            }
        }
        consents.terms.sort {
            ($0.document, $0.acceptedAt ?? 0) < ($1.document, $1.acceptedAt ?? 0)
        }
        consents.age = ages.counting
        return (consents, ages)
    }

    /// Journals what `customer` agrees to, with the version and the server's time.
    ///
    /// Durable when this returns. The same document in the same version again changes nothing: the
    /// first acceptance stands.
    ///
    /// A parental consent that is withdrawn is recorded first, whatever is refused of the rest.
    ///
    /// - Throws: refusals 400 for a document or version that no catalog of this server ever had, or
    ///   an age that nobody has; 409 `age_declared`; 429 for the eleventh age by the customer's own word, the
    ///   eleventh that others declared, or the eleventh parental consent, within a day.
    public func record(
        _ request: API.ConsentsRequest,
        of customer: Customer.ID
    ) async throws -> API.Consents {
        if request.parentalConsent == false { try await recordParentalConsent(false, of: customer) }
        let terms = request.terms ?? []
        guard terms.count <= 10 else {
            throw Refusal.invalid("terms", "At most ten documents at a time.")
        }
        for acceptance in terms { try requireKnown(acceptance) }
        if let age = request.age { try requirePossible(age) }
        for acceptance in terms {
            let statement = ConsentStatement(
                terms: .init(document: acceptance.document, version: acceptance.version)
            )
            let key = RowKey("consent", customer.rawValue, acceptance.document, acceptance.version)
            try await journal(statement, of: customer, dedupeKey: key)
        }
        if let age = request.age { try await record(age, of: customer) }
        if request.parentalConsent == true { try await recordParentalConsent(true, of: customer) }
        return try await given(by: customer)
    }

    /// Journals an age, unless the same was said last.
    private func record(
        _ age: API.Consents.AgeStatement,
        of customer: Customer.ID
    ) async throws {
        let ages = try await read(customer).ages
        var age = age
        age.statedAt = await clocks.now().milliseconds
        if let declared = ages.contradicted(by: age) {
            let end = declared.below.map { ", below \($0)" } ?? ""
            throw Refusal.conflict(
                "age_declared",
                "The age was declared by a parent or guardian, or checked: at least \(declared.atLeast)\(end). The customer cannot declare an age outside that range.",
                param: "age"
            )
        }
        age.statedAt = nil
        var known = ages.newest(like: age)
        known?.statedAt = nil
        guard age != known else { return }
        // Apart: the customer's own words keep no guardian's from being heard.
        try await requireFew(customer, "age") { $0.age?.isOwnWord == age.isOwnWord }
        try await journal(ConsentStatement(age: age), of: customer, named: "age")
    }

    /// Nobody withdraws what was never given; what was given can be withdrawn at any time.
    private func recordParentalConsent(_ isGiven: Bool, of customer: Customer.ID) async throws {
        let known = try await given(by: customer).parentalConsent?.isGiven
        guard isGiven != known ?? false else { return }
        if isGiven {
            try await requireFew(customer, "parental_consent") { $0.parentalConsent == true }
        }
        try await journal(
            ConsentStatement(parentalConsent: isGiven),
            of: customer,
            named: "parental_consent"
        )
    }

    /// - Throws: the refusal 400 for an age that nobody has.
    private func requirePossible(_ age: API.Consents.AgeStatement) throws {
        // Who is younger than the lowest age that was asked about has reached none of them.
        guard ((age.below == nil ? 1 : 0)...120).contains(age.atLeast) else {
            throw Refusal.invalid(
                "age.at_least",
                "An age is between 1 and 120; 0 needs ‘below’ beside it."
            )
        }
        if let below = age.below, !((age.atLeast + 1)...121).contains(below) {
            throw Refusal.invalid(
                "age.below",
                "‘below’ is an age in years above ‘at_least’, at most 121."
            )
        }
        // Newer apps may know further words.
        if let declaration = age.declaration,
            !(1...40).contains(declaration.utf8.count)
                || !declaration.utf8.allSatisfy({
                    $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                })
        {
            throw Refusal.invalid(
                "age.declaration",
                "This is a word of small letters and underscores, like guardian_declared."
            )
        }
    }

    private func journal(
        _ statement: ConsentStatement,
        of customer: Customer.ID,
        named kind: String
    ) async throws {
        let key = RowKey(kind, customer.rawValue, random.id(""))
        try await journal(statement, of: customer, dedupeKey: key)
    }

    /// An age changes once a year; who changes it all day only fills the journal.
    private func requireFew(
        _ customer: Customer.ID,
        _ param: String,
        _ isCounted: (ConsentStatement) -> Bool
    ) async throws {
        let yesterday = await clocks.now().advanced(by: -86_400_000)
        let stated = try await records.journal.said(by: customer).filter { said in
            let statement = try? APIJSON.decode(ConsentStatement.self, from: Data(said.body))
            return said.stated > yesterday && statement.map(isCounted) ?? false
        }
        guard stated.count < 10 else {
            throw Refusal(
                429,
                .invalidRequestError,
                "too_many_statements",
                "The limit is ten statements a day; try again tomorrow.",
                param: param
            )
        }
    }

    /// A version that the server never asked for says nothing about what the customer has read.
    private func requireKnown(_ acceptance: API.Consents.Acceptance) throws {
        let known = records.history.versions.flatMap {
            API.RequiredConsents($0.catalog.gates).terms
        }.filter { $0.document == acceptance.document }
        guard !known.isEmpty else {
            throw Refusal.invalid(
                "terms",
                "The catalog names no document '\(acceptance.document.prefix(80))'."
            )
        }
        guard known.contains(where: { $0.version == acceptance.version }) else {
            throw Refusal.invalid(
                "terms",
                "'\(acceptance.document)' has no version '\(acceptance.version.prefix(80))'."
            )
        }
    }

    private func journal(
        _ statement: ConsentStatement,
        of customer: Customer.ID,
        dedupeKey: RowKey
    ) async throws {
        _ = try await records.submit(
            .message(
                dedupeKey: dedupeKey,
                subject: RecordStore.subject(of: customer),
                kind: .command,
                stated: await clocks.now(),
                facts: [],
                received: Array(try APIJSON.encode(statement))
            )
        )
    }
}
