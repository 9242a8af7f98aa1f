import Foundation
import Testing
import TollgateAPI
import TollgateCore

@testable import BillingSDK

@Suite struct ConsentTests {
    private func app(_ gates: Catalog.Gates) -> TestApp {
        let app = TestApp()
        app.server.world.withLock { world in
            world.catalog = DeviceEvaluationTests.catalog
            world.catalog.gates = gates
        }
        return app
    }

    private static let gates = Catalog.Gates(
        termsVersion: "1",
        subscriptionTermsVersion: "s1",
        minimumAge: 13
    )

    @Test func termsAreAcceptedInTheVersionThatWasShown() async throws {
        let app = app(Self.gates)
        let asked = try await app.billing.getConsents()
        #expect(asked.missingTerms.map(\.id) == ["terms", "subscription_terms"])
        #expect(asked.isAgeMissing && asked.minimumAge == 13)
        let accepted = try await app.billing.accept(asked.missingTerms)
        #expect(accepted.missingTerms.isEmpty)
        #expect(accepted.acceptances.first?.acceptedAt == app.clock.now)
        let stated = try await app.billing.stateAge(atLeast: 13)
        #expect(stated.statedAge == 13 && !stated.isAgeMissing)
    }

    @Test func aNewVersionOfTheTermsAsksAgain() async throws {
        let app = app(Self.gates)
        let first = try await app.billing.getConsents()
        try await app.billing.accept(first.missingTerms)
        app.server.world.withLock { $0.catalog.gates.termsVersion = "2" }
        let again = try await app.billing.getConsents()
        #expect(again.missingTerms == [TermsDocument(id: "terms", version: "2")])
        #expect(again.acceptances.count == 2)
    }

    @Test func anAgeThatDoesNotSufficeLeavesTheGateClosed() async throws {
        let app = app(Self.gates)
        #expect(try await app.billing.stateAge(atLeast: 12).isAgeMissing)
    }

    @Test func whoIsYoungerIsNotAskedLikeSomebodyWhoSaidNothing() async throws {
        let app = app(Self.gates)
        #expect(try await !app.billing.getConsents().isTooYoung)
        let younger = try await app.billing.stateAge(atLeast: 0, below: 13)
        #expect(younger.isAgeMissing && younger.isTooYoung && younger.ageTier == nil)
        let older = try await app.billing.stateAge(atLeast: 13)
        #expect(!older.isAgeMissing && !older.isTooYoung && older.statedAgeBelow == nil)
    }

    @Test(
        arguments: [(0, nil), (12, nil), (13, 13), (15, 13), (16, 16), (18, 18), (40, 18)]
            as [(Int, Int?)]
    )
    func theTierIsTheHighestAgeThatWasReached(_ age: Int, _ tier: Int?) async throws {
        let app = app(Catalog.Gates(minimumAge: 13, ageTiers: [16], parentalConsentBelow: 18))
        let consents = try await app.billing.stateAge(atLeast: age, below: age + 1)
        #expect(consents.askedAges == [13, 16, 18])
        #expect(consents.ageTier == tier)
    }

    @Test func aMinorBuysOnceAParentAgreesAndAnAdultAtOnce() async throws {
        let app = app(Catalog.Gates(parentalConsentBelow: 18))
        let inbox = app.billing.purchaseInbox
        let purchase = inbox.add(productID: "pass30", origin: .promotedPayment)
        func next() async throws -> PurchaseInbox.Step? {
            inbox.next(try await app.billing.getPurchaseReadiness(isSetUp: true))
        }
        let before = try await app.billing.getConsents()
        #expect(before.isAgeMissing && !before.isParentalConsentMissing)
        #expect(try await next() == .pass(.age, for: purchase))
        let minor = try await app.billing.stateAge(atLeast: 0, below: 18)
        #expect(!minor.isAgeMissing && minor.isParentalConsentMissing)
        #expect(try await next() == .pass(.age, for: purchase))
        let agreed = try await app.billing.recordParentalConsent(true)
        #expect(agreed.parentalConsentGivenAt == app.clock.now)
        #expect(!agreed.isParentalConsentMissing)
        #expect(try await next() == .proceed(purchase))
        let withdrawn = try await app.billing.recordParentalConsent(false)
        #expect(withdrawn.parentalConsentGivenAt == nil && withdrawn.isParentalConsentMissing)
        #expect(try await next() == .pass(.age, for: purchase))
        try await app.billing.stateAge(atLeast: 18)
        #expect(try await next() == .proceed(purchase))
    }

    /// A shop that knew one age adds another: whoever said "13 or older" may be 40.
    @Test func aNewAgeInTheCatalogAsksThoseOfWhomItIsOpen() async throws {
        let app = app(Catalog.Gates(minimumAge: 13))
        #expect(try await app.billing.getConsents().isAgeUnclear)
        #expect(try await !app.billing.stateAge(atLeast: 13).isAgeUnclear)
        app.server.world.withLock { $0.catalog.gates.parentalConsentBelow = 18 }
        let open = try await app.billing.getConsents()
        #expect(open.isAgeUnclear && !open.isAgeMissing && open.isParentalConsentMissing)
        #expect(open.ageStatedAt == app.clock.now)
        let adult = try await app.billing.stateAge(atLeast: 18)
        #expect(!adult.isAgeUnclear && !adult.isParentalConsentMissing)
        let minor = try await app.billing.stateAge(atLeast: 13, below: 18)
        #expect(!minor.isAgeUnclear && minor.isParentalConsentMissing)
    }

    /// An app may have kept them, with an SDK that knew less.
    @Test func consentsOfAnOlderVersionAreRead() throws {
        let kept = #"{"acceptances":[],"statedAge":13,"requiredTerms":[],"minimumAge":13}"#
        let read = try JSONDecoder().decode(Consents.self, from: Data(kept.utf8))
        #expect(read.askedAges == [13] && read.ageTier == 13 && !read.isAgeMissing)
        let again = try JSONDecoder().decode(Consents.self, from: JSONEncoder().encode(read))
        #expect(again == read)
    }

    @Test func nobodyCannotAgreeToAnything() async throws {
        let app = app(Self.gates)
        app.signIn(nil)
        let error = await billingError { try await app.billing.getConsents() }
        #expect(error?.name == "unauthenticated")
    }

    @Test func theServersRecordOpensTheInboxGateByGate() async throws {
        let app = app(Self.gates)
        app.signIn(nil)
        let inbox = app.billing.purchaseInbox
        // StoreKit 1 does not say what kind it is; the catalog does.
        let purchase = inbox.add(productID: "monthly", origin: .promotedPayment)
        func next(isSetUp: Bool = true) async throws -> PurchaseInbox.Step? {
            inbox.next(try await app.billing.getPurchaseReadiness(isSetUp: isSetUp))
        }
        #expect(try await next(isSetUp: false) == .pass(.setUp, for: purchase))
        #expect(try await next() == .pass(.signIn, for: purchase))
        app.signIn("cus_ada")
        #expect(try await next() == .pass(.terms, for: purchase))
        let terms = try await app.billing.getConsents().missingTerms
        try await app.billing.accept(terms.filter { $0.id == TermsDocument.terms })
        #expect(try await next() == .pass(.subscriptionTerms, for: purchase))
        try await app.billing.accept(terms)
        #expect(try await next() == .proceed(purchase))
        app.server.world.withLock { $0.catalog.gates.termsVersion = "2" }
        #expect(try await next() == .pass(.terms, for: purchase))
    }

    @Test func theAgeCountsForWhatIsPaidOnce() async throws {
        let app = app(Catalog.Gates(minimumAge: 13))
        let inbox = app.billing.purchaseInbox
        let purchase = inbox.add(productID: "pass30", origin: .promotedPayment)
        let before = try await app.billing.getPurchaseReadiness(isSetUp: true)
        #expect(inbox.next(before) == .pass(.age, for: purchase))
        try await app.billing.stateAge(atLeast: 20)
        let after = try await app.billing.getPurchaseReadiness(isSetUp: true)
        #expect(inbox.next(after) == .proceed(purchase))
    }

    @Test func whatTheCustomerHasAlreadyIsNotBoughtAgain() async throws {
        let app = app(Catalog.Gates())
        app.server.grant("pro", to: "cus_ada")
        let readiness = try await app.billing.getPurchaseReadiness(isSetUp: true)
        // A pass adds to what runs; a second subscription to the same is not wanted.
        #expect(readiness.ownedProductIDs == ["monthly"])
    }

    @Test func withoutTheServerNoGateIsCalledOpen() async throws {
        let app = app(Catalog.Gates())
        app.server.mood(.unreachable)
        let error = await billingError {
            try await app.billing.getPurchaseReadiness(isSetUp: true)
        }
        #expect(error?.name == "networkUnavailable")
    }
}
