import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// I14, the client's view: what an app is told never goes back, and whoever asks after a purchase was
/// acknowledged sees it.
@Suite struct ClientViewTests {
    /// A small generator of its own, so that a seed tells the whole story.
    struct Chance: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    /// One who asks: what they may not be told any more.
    struct Reader {
        var floor: Int
        var after: Int?
    }

    /// A device, one request at a time on its way, and a server whose answer grows.
    struct Life {
        var state = ClientState(maximumAge: 300)
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        /// What the server knows.
        var version = 0
        /// The newest that anybody was told, or that was acknowledged.
        var floor = 0
        var flight: (flight: ClientState.Flight, asked: Date, answer: Int?)?
        var sharing: [Reader] = []
        var waiting: [Reader] = []
        var told = 0

        init() {
            guard case .fetch(let flight) = state.session(at: now) else { return }
            let session = UBCustomerSessionDetails(
                clientSecret: "cuss_secret_1",
                expiresAt: .distantFuture,
                customer: "cus_ada"
            )
            _ = state.sessionArrived(session, flight: flight, at: now)
        }

        mutating func tell(_ entitlements: [Entitlement], _ reader: Reader) {
            let version = Int(entitlements.first?.lookupKey ?? "") ?? 0
            #expect(version >= reader.floor)
            floor = max(floor, version)
            told += 1
        }

        mutating func read(_ reader: Reader) {
            switch state.read(at: now, after: reader.after) {
            case .use(let entitlements): tell(entitlements, reader)
            case .wait: sharing.append(reader)
            case .waitOut: waiting.append(reader)
            case .fetch(let started):
                flight = (started, now, nil)
                sharing.append(reader)
            }
        }

        mutating func land(isLost: Bool) {
            guard let (flight, asked, answer) = flight else { return }
            self.flight = nil
            let readers = sharing
            sharing = []
            if let answer, !isLost {
                let entry = EntitlementSnapshot.Entry(
                    entitlement: Entitlement(id: "e", feature: "f", lookupKey: "\(answer)"),
                    until: nil
                )
                let snapshot = EntitlementSnapshot(
                    customer: "cus_ada",
                    entries: [entry],
                    at: 0,
                    takenAt: asked,
                    flight: flight.number
                )
                let isAccepted = state.readArrived(snapshot, flight: flight)
                #expect(isAccepted)
                for reader in readers { tell([entry.entitlement], reader) }
            } else {
                let isCurrent = state.readFailed(flight: flight, withdrawn: false)
                #expect(isCurrent)
            }
            let again = waiting
            waiting = []
            for reader in again { read(reader) }
        }

        mutating func step(_ chance: inout Chance) {
            switch Int.random(in: 0..<12, using: &chance) {
            case 0...3:
                let isForced = Bool.random(using: &chance)
                read(Reader(floor: floor, after: isForced ? state.lastReadFlight : nil))
            case 4, 5: if flight != nil, flight?.answer == nil { flight?.answer = version }
            case 6, 7: land(isLost: false)
            case 8: land(isLost: true)
            case 9: version += 1
            case 10:
                // The server has acknowledged a purchase.
                version += 1
                floor = version
                state.expireSnapshot()
            default: now += Double.random(in: 0...200, using: &chance)
            }
        }
    }

    @Test("I14: what is told never falls, and holds what was acknowledged before it was asked")
    func neverBack() {
        var told = 0
        for seed in UInt64(1)...400 {
            var chance = Chance(state: seed)
            var life = Life()
            for _ in 0..<300 { life.step(&chance) }
            told += life.told
        }
        #expect(told > 10_000)
    }

    @Test("I14: a read that began before a purchase does not hide it")
    func readUnderWay() async throws {
        let app = TestApp(maximumStale: 3600)
        _ = try await app.keys(forceRefresh: true)
        let gate = Gate()
        app.server.world.withLock {
            $0.gate = gate
            $0.gatedPath = APIPath.customerEntitlements.path(id: "cus_ada")
        }
        let early = Task { try await app.keys(forceRefresh: true) }
        await gate.arrivals(1)
        app.server.grant("premium", to: "cus_ada")
        let purchase = Task {
            try await app.billing.submit(signedTransaction: "e30.e30.c2ln", mode: .purchased)
        }
        while app.server.requests("POST", APIPath.appStoreTransactions.path).isEmpty {
            await Task.yield()
        }
        gate.open()
        #expect(try await early.value == [])
        _ = try await purchase.value
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
    }

    @Test("I14: an answer that is kept for later is never replaced by one that was asked before it")
    func keptAnswer() async throws {
        let phone = OfflineTests.Phone()
        let app = phone.launch()
        let gate = Gate()
        phone.server.world.withLock {
            $0.gate = gate
            $0.gatedPath = APIPath.catalog.path
        }
        // Its answer is there, and its catalog is on its way.
        let early = Task { try await app.keys() }
        await gate.arrivals(1)
        phone.server.world.withLock { $0.gatedPath = "/nothing" }
        phone.server.grant("premium", "gold", to: "cus_ada")
        let later = try await app.billing.getActiveEntitlements(forceRefresh: true)
        #expect(later.map(\.lookupKey) == ["premium", "gold"])
        gate.open()
        #expect(try await early.value == ["premium"])
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.unreachable)
        #expect(try await phone.launch().keys().sorted() == ["gold", "premium"])
    }
}
