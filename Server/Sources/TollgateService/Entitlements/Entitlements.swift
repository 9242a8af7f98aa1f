internal import Stores
internal import Foundation
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
    ///
    /// - Parameters:
    ///   - instant: `nil`: now, by the stores' clock.
    ///   - signed: whether the answer carries a token that a device can trust offline.
    ///   - app: the app that asks, where there are several: the token is for its devices.
    public func active(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        at instant: Instant? = nil,
        signed: Bool = false,
        app: AskingApp? = nil
    ) async throws -> API.EntitlementList {
        let environment = environment ?? defaultEnvironment
        let (id, reading) = try await reading(of: customer, in: environment)
        let now = await clocks.now()
        return try list(
            reading,
            of: id,
            in: environment,
            at: instant ?? now,
            now,
            signed: signed,
            app
        )
    }

    /// What `customer` may use now, without suspension, where that is possible: for a customer by
    /// our own id who bought something.
    ///
    /// `nil`: ask ``active(of:in:at:signed:)``, which answers everything.
    public func activeAtOnce(
        of customer: String,
        in environment: StoreEnvironment? = nil,
        signed: Bool = false,
        app: AskingApp? = nil
    ) throws -> API.EntitlementList? {
        let environment = environment ?? defaultEnvironment
        let id = Customer.ID(customer)
        guard let now = clocks.nowAtOnce?(),
            let reading = try records.readingAtOnce(of: id, in: environment),
            reading.sequence > 0, !reading.isErased
        else { return nil }
        return try list(reading, of: id, in: environment, at: now, now, signed: signed, app)
    }

    private func list(
        _ reading: CustomerReading,
        of id: Customer.ID,
        in environment: StoreEnvironment,
        at: Instant,
        _ now: Instant,
        signed: Bool,
        _ app: AskingApp?
    ) throws -> API.EntitlementList {
        let catalog = records.history.current
        let data = reading.timeline.active(at: at).map { API.Entitlement($0, catalog) }
        var list = API.EntitlementList(
            data: data,
            environment: API.Environment(rawValue: environment.rawValue),
            at: at.milliseconds
        )
        if signed {
            list.signedAnswer = try sign(
                reading.timeline,
                of: id,
                for: app,
                in: environment,
                at: now
            )
        }
        return list
    }

    /// The row of a customer by id, else by `app_user_id`.
    ///
    /// One read where the id is ours.
    private func reading(
        of customer: String,
        in environment: StoreEnvironment
    ) async throws -> (Customer.ID, CustomerReading) {
        let id = Customer.ID(customer)
        let reading = try await records.reading(of: id, in: environment)
        if reading.isErased { throw Refusal.erased("id") }
        if reading.sequence > 0 { return (id, reading) }
        let known = Customer.ID(try await directory.customer(customer).id)
        return (
            known, known == id ? reading : try await records.reading(of: known, in: environment)
        )
    }

    private func sign(
        _ timeline: Timeline,
        of customer: Customer.ID,
        for app: AskingApp?,
        in environment: StoreEnvironment,
        at now: Instant
    ) throws -> String {
        // What has ended does not concern a device; what is to come does.
        var intervals: [String: [API.SignedAnswer.Interval]] = [:]
        for entry in timeline.entries where entry.until.map({ $0 > now }) ?? true {
            intervals[entry.lookupKey, default: []].append(
                API.SignedAnswer.Interval(
                    since: entry.since.milliseconds,
                    until: entry.until?.milliseconds,
                    ground: API.Ground(rawValue: entry.ground.rawValue)
                )
            )
        }
        let real = clocks.wall()
        let wall = real.milliseconds / 1000
        return try signer.sign(
            API.SignedAnswer(
                sub: customer.rawValue,
                aud: "tollgate",
                azp: app?.key,
                environment: API.Environment(rawValue: environment.rawValue),
                iat: wall,
                exp: wall + Self.answerLifetime,
                at: now.milliseconds,
                entitlements: intervals
            ),
            at: real
        )
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
            purchase: entitlement.purchase.canonical
        )
    }
}
