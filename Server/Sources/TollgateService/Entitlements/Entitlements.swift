internal import Stores
internal import Storage
public import TollgateAPI
public import TollgateCore

/// What customers may use.
public struct Entitlements: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let signer: AnswerSigner
    let defaultEnvironment: StoreEnvironment

    /// Three days in seconds: how long a device may go without us.
    static let answerLifetime: Int64 = 3 * 86_400

    /// What `customer` may use at `instant`.
    public func active(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil
    ) async throws -> API.EntitlementList {
        try await answer(of: customer, in: environment, at: instant).list()
    }

    /// The same, to be sent.
    ///
    /// - Parameters:
    ///   - instant: `nil`: now, by the stores' clock.
    ///   - signed: whether the answer carries a token that a device can trust offline.
    ///   - app: the app that asks, where there are several: the token is for its devices.
    public func answer(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil,
        signed: Bool = false,
        app: AskingApp? = nil
    ) async throws -> EntitlementAnswer {
        let environment = environment ?? defaultEnvironment
        let (id, reading) = try await reading(of: customer, in: environment)
        let now = await clocks.now()
        return try answer(
            reading,
            of: id,
            in: environment,
            at: instant ?? now,
            now,
            signed: signed,
            app
        )
    }

    /// What `customer` may use now, without suspension, where that is possible: the database and the
    /// clock answer at once, and the customer is known.
    ///
    /// `nil`: ask ``answer(of:in:at:signed:app:)``, which answers everything.
    public func answerAtOnce(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        signed: Bool = false,
        app: AskingApp? = nil
    ) throws -> EntitlementAnswer? {
        let environment = environment ?? defaultEnvironment
        guard let now = clocks.nowAtOnce?(),
            let (id, reading) = try readingAtOnce(of: customer, in: environment)
        else { return nil }
        return try answer(reading, of: id, in: environment, at: now, now, signed: signed, app)
    }

    private func answer(
        _ reading: CustomerReading,
        of id: Customer.ID,
        in environment: StoreEnvironment,
        at: Instant,
        _ now: Instant,
        signed: Bool,
        _ app: AskingApp?
    ) throws -> EntitlementAnswer {
        let catalog = records.history.current
        let list = API.EntitlementList(
            data: reading.timeline.active(at: at).map { API.Entitlement($0, catalog) },
            environment: API.Environment(rawValue: environment.rawValue),
            at: at.milliseconds
        )
        var claims: AnswerClaims?
        if signed {
            let real = clocks.wall()
            claims = AnswerClaims(
                reading.timeline,
                of: id,
                for: app?.key,
                in: environment,
                at: now,
                real,
                by: try signer.key(at: real)
            )
        }
        return EntitlementAnswer(list, of: id, signed: claims)
    }

    /// The row of a customer by id, else by `app_user_id`.
    ///
    /// One read for a customer by our own id who has bought something, else two: who it is, and what
    /// they hold.
    private func reading(
        of name: String,
        in environment: StoreEnvironment
    ) async throws -> (Customer.ID, CustomerReading) {
        let id = Customer.ID(name)
        var own: CustomerReading?
        if CustomerNames.isOurs(name) {
            let reading = try await records.reading(of: id, in: environment)
            if try isAnswer(reading) { return (id, reading) }
            own = reading
        }
        if let known = try await directory.stored(name) {
            guard !known.body.isEmpty else { throw Refusal.erased("id") }
            if known.customer == id, let own { return (id, own) }
            let reading = try await records.reading(of: known.customer, in: environment)
            if reading.isErased { throw Refusal.erased("id") }
            return (known.customer, reading)
        }
        if own == nil, !name.utf8.contains(0) {
            // Purchases of somebody whom nobody made known.
            let reading = try await records.reading(of: id, in: environment)
            if try isAnswer(reading) { return (id, reading) }
        }
        throw Refusal.missing("customer", name)
    }

    /// The same without suspension, by `app_user_id` in one statement; `nil` for whatever
    /// ``reading(of:in:)`` may refuse, and where the database cannot do that.
    private func readingAtOnce(
        of name: String,
        in environment: StoreEnvironment
    ) throws -> (Customer.ID, CustomerReading)? {
        guard CustomerNames.isOurs(name) else {
            return try records.readingAtOnce(ofAppUser: name, in: environment)
        }
        let id = Customer.ID(name)
        guard let reading = try records.readingAtOnce(of: id, in: environment) else { return nil }
        if try isAnswer(reading) { return (id, reading) }
        guard let known = try directory.storedAtOnce(name), known.customer == id,
            !known.body.isEmpty
        else { return nil }
        return (id, reading)
    }

    /// Whether somebody holds, or held, something under this id.
    ///
    /// - Throws: a refusal 410 `customer_erased`.
    private func isAnswer(_ reading: CustomerReading) throws -> Bool {
        if reading.isErased { throw Refusal.erased("id") }
        return reading.sequence > 0
    }
}

extension API.Entitlement {
    init(_ entitlement: ActiveEntitlement, _ catalog: Catalog) {
        self.init(
            id: "ent_\(entitlement.lookupKey)",
            lookupKey: entitlement.lookupKey,
            feature: catalog.entitlement(lookupKey: entitlement.lookupKey)?.name
                ?? entitlement.lookupKey,
            since: entitlement.since.milliseconds,
            until: entitlement.until?.milliseconds,
            ground: API.Ground(rawValue: entitlement.ground.rawValue),
            purchase: entitlement.purchase.canonical,
            offer: entitlement.offer?.rawValue,
            willRenew: entitlement.willRenew
        )
    }
}
