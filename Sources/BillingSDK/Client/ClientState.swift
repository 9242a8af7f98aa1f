import Foundation

/// Everything that the SDK knows, and every decision that it takes, as one plain value.
///
/// Methods decide and return what to do; whoever holds the lock does it. No decision spans a
/// suspension: what comes back from the network names its flight, and a flight of an earlier epoch
/// is dropped.
struct ClientState: Sendable {
    /// What the server said earlier and what still holds of it.
    struct EarlierAnswer: Hashable, Sendable {
        let entitlements: [Entitlement]
        /// The instant for which the server answered, UNIX milliseconds by its clock.
        let at: Int64
        /// When the first of these ends, by the device's clock.
        let nextEnd: Date?
    }

    /// One request under way, of the provider or of the server.
    struct Flight: Hashable, Sendable {
        let number: Int
        let epoch: Int
    }

    enum SessionAction: Hashable, Sendable {
        case use(UBCustomerSessionDetails)
        case fetch(Flight)
        case wait
    }

    enum ReadAction: Sendable {
        case use([Entitlement])
        case fetch(Flight)
        /// Share the request that is under way.
        case wait
        /// The request under way began before this call: let it end, then ask again.
        case waitOut
    }

    let maximumAge: TimeInterval

    /// Grows with every sign-out and every new provider.
    private(set) var epoch = 0
    /// Grows with every sign-out alone.
    private(set) var resets = 0
    /// Who is known to be signed in, from the session that came last in this epoch.
    private(set) var customer: String?
    /// Who was signed in last in this process, whatever came after.
    private(set) var lastCustomer: String?
    /// Grows whenever the customer has left, or may have.
    private(set) var stay = 0
    private(set) var lastReadFlight = 0

    private var session: (details: UBCustomerSessionDetails, renewAt: Date)?
    private var sessionFlight: Flight?
    private var lastSessionFlight = 0

    private var snapshot: EntitlementSnapshot?
    private var readFlight: Flight?
    /// Reads up to this one were asked before something was bought: what they bring is old.
    private var lastOutdatedFlight = 0
    /// Whether the provider has said that nobody is signed in.
    private var saidNobody = false

    /// What listeners heard last, and what they are still to hear, in order.
    private var announced: Announced = []
    private var announcements: [[Entitlement]] = []

    init(maximumAge: TimeInterval) {
        self.maximumAge = maximumAge.isFinite ? max(0, maximumAge) : 0
    }

    // MARK: - Who is signed in

    /// A new provider may speak for another customer: ask it before anything cached is given.
    mutating func providerChanged() {
        beginEpoch()
    }

    mutating func reset() {
        beginEpoch()
        resets += 1
        lastCustomer = nil
        snapshot = nil
        announce([])
    }

    private mutating func beginEpoch() {
        epoch += 1
        stay += 1
        session = nil
        customer = nil
        sessionFlight = nil
        readFlight = nil
    }

    // MARK: - The session

    /// How to come by a session at `now`.
    mutating func session(at now: Date) -> SessionAction {
        if let session, now < session.renewAt { return .use(session.details) }
        if sessionFlight != nil { return .wait }
        lastSessionFlight += 1
        let flight = Flight(number: lastSessionFlight, epoch: epoch)
        sessionFlight = flight
        return .fetch(flight)
    }

    /// The provider has answered; false if too late, when the answer is nobody's business any more.
    mutating func sessionArrived(
        _ details: UBCustomerSessionDetails?,
        flight: Flight,
        at now: Date
    ) -> Bool {
        guard flight == sessionFlight else { return false }
        sessionFlight = nil
        if let customer, customer != details?.customer { stay += 1 }
        lastCustomer = details?.customer ?? lastCustomer
        guard let details else {
            saidNobody = true
            session = nil
            customer = nil
            snapshot = nil
            announce([])
            return true
        }
        // A quarter of a short life, at most a minute: early enough, and not at every call.
        let life = max(0, details.expiresAt.timeIntervalSince(now))
        session = (details, details.expiresAt.addingTimeInterval(-min(60, life / 4)))
        customer = details.customer
        if let snapshot, snapshot.customer != details.customer {
            self.snapshot = nil
            announce([])
        }
        return true
    }

    /// The provider has failed; the old session serves while it lasts.
    mutating func sessionFailed(flight: Flight, at now: Date) -> UBCustomerSessionDetails? {
        guard flight == sessionFlight else { return nil }
        sessionFlight = nil
        guard let session, now < session.details.expiresAt else { return nil }
        return session.details
    }

    /// The server has refused `details`; a newer session is left alone.
    mutating func sessionRejected(_ details: UBCustomerSessionDetails) {
        if session?.details == details { session = nil }
    }

    // MARK: - Entitlements

    /// Yes or no from a fresh answer; nil if it takes asking.
    func cachedAnswer(lookupKey: String, at now: Date) -> Bool? {
        guard let snapshot = freshSnapshot(at: now) else { return nil }
        return snapshot.contains(lookupKey)
    }

    private func freshSnapshot(at now: Date) -> EntitlementSnapshot? {
        guard let snapshot, snapshot.customer == customer,
            snapshot.isFresh(at: now, maximumAge: maximumAge)
        else { return nil }
        return snapshot
    }

    /// How to come by the entitlements at `now`.
    ///
    /// With `after`, only an answer whose request began after flight `after` will do.
    mutating func read(at now: Date, after: Int?) -> ReadAction {
        if let after {
            let outdated = max(after, lastOutdatedFlight)
            if let readFlight { return readFlight.number > outdated ? .wait : .waitOut }
            if let snapshot, snapshot.flight > outdated, snapshot.customer == customer {
                return .use(snapshot.active(at: now))
            }
        } else {
            if let snapshot = freshSnapshot(at: now) { return .use(snapshot.active(at: now)) }
            if let readFlight {
                return readFlight.number > lastOutdatedFlight ? .wait : .waitOut
            }
        }
        lastReadFlight += 1
        let flight = Flight(number: lastReadFlight, epoch: epoch)
        readFlight = flight
        return .fetch(flight)
    }

    /// The server has answered; false if too late or about somebody who is not signed in any more.
    mutating func readArrived(_ snapshot: EntitlementSnapshot, flight: Flight) -> Bool {
        guard flight == readFlight else { return false }
        readFlight = nil
        guard snapshot.customer == customer else { return false }
        self.snapshot = flight.number > lastOutdatedFlight ? snapshot : snapshot.outdated()
        announce(snapshot.entries.map(\.entitlement))
        return true
    }

    /// The read found nobody signed in; false if too late.
    mutating func readFoundNobody(flight: Flight) -> Bool {
        guard flight == readFlight else { return false }
        readFlight = nil
        return true
    }

    /// The read has failed; false if too late, when the failure is nobody's business.
    ///
    /// `withdrawn`: the server will not vouch for the customer, so what was cached is void.
    mutating func readFailed(flight: Flight, withdrawn: Bool) -> Bool {
        guard flight == readFlight else { return false }
        readFlight = nil
        if withdrawn {
            snapshot = nil
            announce([])
        }
        return true
    }

    /// What the last answer still says, while it is within the stated maximum age.
    func earlierAnswer(at now: Date) -> EarlierAnswer? {
        guard let snapshot, snapshot.customer == customer else { return nil }
        let age = now.timeIntervalSince(snapshot.takenAt)
        guard age >= 0, age <= maximumAge else { return nil }
        return EarlierAnswer(
            entitlements: snapshot.active(at: now),
            at: snapshot.at,
            nextEnd: snapshot.nextEnd(after: now)
        )
    }

    /// What the server said last, for developers.
    func lastAnswer(at now: Date) -> BillingDiagnostics.LastAnswer? {
        guard let snapshot, snapshot.customer == customer else { return nil }
        return BillingDiagnostics.LastAnswer(
            lookupKeys: snapshot.entries.map(\.entitlement.lookupKey),
            takenAt: snapshot.takenAt,
            isFresh: snapshot.isFresh(at: now, maximumAge: maximumAge)
        )
    }

    /// When the first entitlement of the last answer ends, by the device's clock.
    func nextEnd(after now: Date) -> Date? {
        guard let snapshot, snapshot.customer == customer else { return nil }
        return snapshot.nextEnd(after: now)
    }

    /// Something has ended and the server cannot say what follows.
    mutating func announceWhatHolds(at now: Date) {
        announce(snapshot?.active(at: now) ?? [])
    }

    /// Whether the customer of the last launch may be taken for this one's, until a session says.
    ///
    /// Not after a sign-out, nor once the provider was replaced: then somebody else may be here.
    var resumesLastLaunch: Bool { epoch <= 1 && customer == nil && !saidNobody }

    /// An answer that is given although the server did not.
    mutating func offlineAnswer(_ entitlements: [Entitlement], epoch: Int) -> Bool {
        guard epoch == self.epoch else { return false }
        announce(entitlements)
        return true
    }

    /// Makes the next read ask the server, since something was bought.
    mutating func expireSnapshot() {
        snapshot = snapshot?.outdated()
        lastOutdatedFlight = lastReadFlight
    }

    /// Whether what `flight` brought is still the newest that is known.
    func isNewest(_ flight: Flight) -> Bool {
        flight.epoch == epoch && snapshot?.flight == flight.number
    }

    // MARK: - Listeners

    /// What is announced when it changes: which there are, and whether a payment has failed.
    private typealias Announced = Set<Pair>
    private struct Pair: Hashable {
        let entitlement: Entitlement
        let hasPaymentProblem: Bool
    }

    private mutating func announce(_ entitlements: [Entitlement]) {
        let set = Set(
            entitlements.map {
                Pair(entitlement: $0, hasPaymentProblem: $0.hasPaymentProblem)
            }
        )
        guard set != announced else { return }
        announced = set
        announcements.append(entitlements)
    }

    /// The next set that listeners are to hear.
    mutating func nextAnnouncement() -> [Entitlement]? {
        announcements.isEmpty ? nil : announcements.removeFirst()
    }
}
