import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct EntitlementTests {
    @Test func anEntitlementSaysUntilWhenWhyAndWhereItWasBought() async throws {
        let app = TestApp()
        let end = app.clock.now.addingTimeInterval(1000)
        app.server.grant("premium", to: "cus_ada", until: end, purchase: "stripe/test//sub_1")
        let premium = try #require(try await app.billing.getActiveEntitlements().first)
        #expect(premium.until == end && premium.ground == .payment && premium.store == .stripe)
        #expect(!premium.hasPaymentProblem && premium.store?.managementURL == nil)
        #expect(
            PurchaseStore.appStore.managementURL?.absoluteString
                == "https://apps.apple.com/account/subscriptions"
        )
    }

    @Test func anEntitlementSaysWhetherItRenewsAndByWhichOfferItRuns() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada", willRenew: true, offer: "trial")
        var premium = try #require(try await app.billing.getActiveEntitlements().first)
        #expect(premium.willRenew == true && premium.offer == .trial)
        // As an older server answers.
        app.server.grant("premium", to: "cus_ada")
        premium = try #require(
            try await app.billing.getActiveEntitlements(forceRefresh: true).first
        )
        #expect(premium.willRenew == nil && premium.offer == nil)
    }

    @Test func whatWasSaidOfAPeriodIsNotSaidOfWhatFollowsItOffline() async throws {
        let phone = OfflineTests.Phone()
        let end = phone.server.clock.now.addingTimeInterval(7200)
        phone.server.grant("premium", to: "cus_ada", until: end, willRenew: true, offer: "trial")
        phone.server.world.withLock { world in
            world.sign = { customer, list in
                var longer = list
                longer.data[0].until = list.at + 90_000_000
                return OfflineTests.Phone.token(
                    customer,
                    longer,
                    lasting: 86_400,
                    audience: API.SignedAnswer.audience
                )
            }
        }
        _ = try await phone.launch().keys()
        phone.server.mood(.unreachable)
        for offer in [CustomerPurchase.OfferKind.trial, nil] {
            phone.server.clock.advance(by: 3600)
            let premium = try #require(
                try await phone.launch().billing.getActiveEntitlements().first
            )
            #expect(premium.offer == offer)
            #expect(premium.willRenew == (offer == nil ? nil : true))
        }
    }

    @Test func aPaymentProblemIsToldWhenItBeginsAndEnds() async throws {
        let app = TestApp()
        for ground in [API.Ground.payment, .grace, .grace, .payment] {
            app.server.grant("premium", to: "cus_ada", ground: ground)
            let problems = try await app.billing.getActiveEntitlements(forceRefresh: true)
                .map(\.hasPaymentProblem)
            #expect(problems == [ground == .grace])
        }
        #expect(app.heardSets.count == 3)
    }

    @Test func whatIsKnownAboutAnEntitlementHoldsOffline() async throws {
        let phone = OfflineTests.Phone()
        let end = phone.server.clock.now.addingTimeInterval(100_000)
        phone.server.grant("premium", to: "cus_ada", until: end, ground: .grace)
        _ = try await phone.launch().keys()
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.unreachable)
        let premium = try #require(
            try await phone.launch().billing.getActiveEntitlements().first
        )
        #expect(premium.until == end && premium.hasPaymentProblem && premium.store == .appStore)
        #expect(premium.purchaseID == "app_store/1")
    }

    @Test func anEntitlementThatAnEarlierVersionKeptIsRead() throws {
        let kept = Data(#"{"id":"e","feature":"f","lookupKey":"k"}"#.utf8)
        let read = try JSONDecoder().decode(Entitlement.self, from: kept)
        #expect(read == Entitlement(id: "e", feature: "f", lookupKey: "k") && read.ground == nil)
    }

    @Test(arguments: [APIPath.catalog.path, APIPath.jsonWebKeySet.path])
    func firstAnswersWaitForNeitherCatalogNorKeys(_ path: String) async throws {
        let phone = OfflineTests.Phone()
        let gate = Gate()
        phone.server.world.withLock { world in
            world.gate = gate
            world.gatedPath = path
        }
        let app = phone.launch()
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly")
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        gate.open()
        await app.settled()
        #expect(phone.server.requests("GET", path).count == 1)
    }

    /// Also where the last answer is too old by then to be given.
    @Test(arguments: [true, false], [36000, 300] as [TimeInterval])
    func anEndIsAnnouncedWhenItComes(
        _ isReachable: Bool,
        _ maximum: TimeInterval
    ) async throws {
        let app = TestApp(maximumStale: maximum)
        let end = app.clock.now.addingTimeInterval(1000)
        app.server.grant("premium", to: "cus_ada", until: end)
        #expect(try await app.keys() == ["premium"])
        while app.pauses.count == 0 { await Task.yield() }
        #expect(app.pauses.asked == [1000])
        app.clock.advance(by: 1000)
        app.server.grant(to: "cus_ada")
        if !isReachable { app.server.mood(.unreachable) }
        app.pauses.elapse()
        while app.heardSets.count < 2 { await Task.yield() }
        #expect(app.heardSets == [["premium"], []])
    }

    @Test func aRenewalInTimeIsNoEnd() async throws {
        let app = TestApp(maximumStale: 36000)
        let end = app.clock.now.addingTimeInterval(1000)
        app.server.grant("premium", to: "cus_ada", until: end)
        #expect(try await app.keys() == ["premium"])
        while app.pauses.count == 0 { await Task.yield() }
        app.clock.advance(by: 1000)
        app.server.grant("premium", to: "cus_ada", until: end.addingTimeInterval(5000))
        app.pauses.elapse()
        while app.pauses.asked.count < 2 { await Task.yield() }
        #expect(app.pauses.asked == [1000, 5000] && app.heardSets == [["premium"]])
    }

    @Test func oneEndIsWaitedForAtATimeAndNoneAfterASignOut() async throws {
        let app = TestApp(maximumStale: 36000)
        let end = app.clock.now.addingTimeInterval(1000)
        app.server.grant("premium", to: "cus_ada", until: end)
        _ = try await app.keys()
        while app.pauses.count == 0 { await Task.yield() }
        app.server.grant("premium", to: "cus_ada", until: end.addingTimeInterval(5000))
        _ = try await app.keys(forceRefresh: true)
        while app.pauses.asked != [1000, 6000] || app.pauses.count == 0 { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(app.pauses.count == 1)
        await app.billing.reset()
        #expect(app.pauses.count == 0)
    }

    @Test func aFreshAnswerIsGivenWithoutAsking() async throws {
        let app = TestApp(maximumStale: 300)
        app.server.grant("premium", to: "cus_ada")
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        app.clock.advance(by: 300)
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        #expect(try await app.billing.hasEntitlement(lookupKey: "gold") == false)
        #expect(app.entitlementRequests() == 1)
        app.clock.advance(by: 1)
        _ = try await app.keys()
        #expect(app.entitlementRequests() == 2)
    }

    @Test(arguments: [-1, 0, .nan, .infinity] as [TimeInterval])
    func aMaximumThatIsNoSpanMeansAlwaysAsk(_ maximum: TimeInterval) async throws {
        let app = TestApp(maximumStale: maximum)
        _ = try await app.keys()
        app.clock.advance(by: 0.001)
        _ = try await app.keys()
        #expect(app.entitlementRequests() == 2)
    }

    @Test func aClockSetBackMakesTheAnswerUnknownNotFresh() async throws {
        let app = TestApp(maximumStale: 300)
        _ = try await app.keys()
        app.clock.advance(by: -10)
        _ = try await app.keys()
        #expect(app.entitlementRequests() == 2)
    }

    @Test func anEntitlementThatHasEndedIsNotGivenHoweverYoungTheAnswer() async throws {
        let app = TestApp(maximumStale: 3600)
        app.server.grant("premium", to: "cus_ada", until: app.clock.now.addingTimeInterval(60))
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
        app.clock.advance(by: 60)
        app.server.mood(.unreachable)
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium") == false)
        #expect(app.heardSets == [["premium"], []])
    }

    @Test func forceRefreshNeverAnswersFromTheCache() async throws {
        let app = TestApp(maximumStale: 3600)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.server.grant("premium", "gold", to: "cus_ada")
        #expect(try await app.keys(forceRefresh: true) == ["premium", "gold"])
        app.server.mood(.unreachable)
        let error = await billingError { try await app.keys(forceRefresh: true) }
        #expect(error?.name == "networkUnavailable")
        #expect(try await app.keys() == ["premium", "gold"])
    }

    @Test func forceRefreshDoesNotShareARequestThatBeganBeforeIt() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.server.gate(gate)
        let early = Task { try await app.keys() }
        await gate.arrivals(1)
        app.server.grant("premium", "gold", to: "cus_ada")
        let late = (0..<20).map { _ in Task { try await app.keys(forceRefresh: true) } }
        gate.open()
        #expect(try await early.value == ["premium"])
        for task in late { #expect(try await task.value == ["premium", "gold"]) }
        #expect(app.entitlementRequests() <= 3)
    }

    @Test func aThousandConcurrentCallsMakeOneRequest() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.server.gate(gate)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 {
                group.addTask { try await app.billing.hasEntitlement(lookupKey: "premium") }
            }
            await gate.arrivals(1)
            gate.open()
            for try await answer in group { #expect(answer) }
        }
        #expect(app.entitlementRequests() == 1)
        #expect(app.providerCalls == 1)
    }

    @Test func aServerThatIsDownIsAnErrorOnceTheAnswerIsTooOld() async throws {
        let app = TestApp(maximumStale: 300)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.clock.advance(by: 301)
        app.server.mood(.unreachable)
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
        app.server.mood(.answers(503, .storageUnavailable))
        #expect(await billingError { try await app.keys() }?.name == "serverUnavailable")
    }

    @Test func anAnswerThatIsNotWhatWasPromisedIsAnError() async throws {
        let app = TestApp()
        app.server.mood(.answers(200, .internalError))
        #expect(await billingError { try await app.keys() }?.name == "invalidResponse")
    }

    @Test func aServerThatWillNotVouchAnyMoreEndsWhatWasCached() async throws {
        let app = TestApp(maximumStale: 3600)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.server.mood(.answers(404, .resourceMissing))
        #expect(await billingError { try await app.keys(forceRefresh: true) }?.name == "notFound")
        app.server.mood(.unreachable)
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
        #expect(app.heardSets == [["premium"], []])
    }

    @Test func listenersHearOnlyChanges() async throws {
        let app = TestApp(maximumStale: 0)
        _ = try await app.keys()
        #expect(app.heardSets == [])
        app.server.grant("premium", "gold", to: "cus_ada")
        _ = try await app.keys()
        app.server.grant("gold", "premium", to: "cus_ada")
        _ = try await app.keys(forceRefresh: true)
        #expect(app.heardSets == [["premium", "gold"]])
        app.server.grant("gold", to: "cus_ada")
        _ = try await app.keys()
        #expect(app.heardSets == [["premium", "gold"], ["gold"]])
        await app.billing.reset()
        await app.billing.reset()
        #expect(app.heardSets == [["premium", "gold"], ["gold"], []])
    }

    @Test func removedListenersHearNothing() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.billing.removeAllEntitlementsChangedCallbacks()
        _ = try await app.keys()
        #expect(app.heardSets == [])
    }

    @Test func listenersHearTheSetsInTheirOrder() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let client = app.billing.client
        let heard = Locked<[[String]]>([])
        // The first causes another change before the second has heard of this one.
        app.billing.onEntitlementsChanged { [weak client] entitlements in
            if !entitlements.isEmpty { client?.reset() }
        }
        app.billing.onEntitlementsChanged { entitlements in
            heard.withLock { $0.append(entitlements.map(\.lookupKey)) }
        }
        _ = try await app.keys()
        #expect(heard.withLock { $0 } == [["premium"], []])
    }

    @Test func setsThatWaitAreAnnouncedInTheOrderOfTheChanges() {
        var state = ClientState(maximumAge: 300)
        let premium = Entitlement(id: "e", feature: "f", lookupKey: "premium")
        _ = state.offlineAnswer([premium], epoch: 0)
        _ = state.offlineAnswer([], epoch: 0)
        let announced = [
            state.nextAnnouncement(), state.nextAnnouncement(), state.nextAnnouncement(),
        ]
        #expect(announced == [[premium], [], nil])
    }

    @Test func aListenerMayCallTheSDK() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let billing = app.billing
        billing.onEntitlementsChanged { _ in billing.onEntitlementsChanged { _ in } }
        #expect(try await app.keys() == ["premium"])
    }

    @Test func whatOneCustomerHadIsNeverTheNextOnes() async throws {
        let app = TestApp(maximumStale: 36000)
        app.server.grant("premium", to: "cus_ada")
        app.server.grant("gold", to: "cus_bob")
        _ = try await app.keys()
        app.signIn("cus_bob")
        app.setProvider()
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium") == false)
        #expect(try await app.keys() == ["gold"])
        #expect(app.heardSets == [["premium"], [], ["gold"]])
    }

    @Test func aNewProviderForTheSameCustomerKeepsTheAnswer() async throws {
        let app = TestApp(maximumStale: 36000)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.setProvider()
        #expect(try await app.keys() == ["premium"])
        #expect(app.heardSets == [["premium"]])
    }

    @Test func aNewProviderThatFailsDoesNotRevealTheOldCustomersAnswer() async throws {
        let app = TestApp(maximumStale: 36000)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
        app.setProvider()
        let error = await billingError { try await app.keys() }
        #expect(error?.name == "customerSessionProviderFailed")
    }

    @Test func aCustomerSwitchInMidFlightDropsTheAnswerAboutTheOldOne() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.server.grant("gold", to: "cus_bob")
        let gate = Gate()
        app.server.gate(gate)
        let read = Task { try await app.keys() }
        await gate.arrivals(1)
        app.signIn("cus_bob")
        app.setProvider()
        app.server.gate(nil)
        #expect(try await app.keys() == ["gold"])
        gate.open()
        #expect(try await read.value == ["gold"])
        #expect(app.heardSets == [["gold"]])
    }

    @Test func signingInAgainReadsTheEntitlementsAgain() async throws {
        let app = TestApp(maximumStale: 36000)
        app.server.grant("premium", to: "cus_ada")
        #expect(try await app.keys() == ["premium"])
        await app.billing.reset()
        app.server.grant(to: "cus_ada")
        // It is known who is signed in before it is known what they may use.
        _ = try await app.billing.getCoinBalance()
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium") == false)
    }

    @Test func aCallerWhoGivesUpDoesNotTakeTheOthersAnswerAlong() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.server.gate(gate)
        let impatient = Task { try await app.keys() }
        await gate.arrivals(1)
        let patient = Task { try await app.keys() }
        impatient.cancel()
        gate.open()
        #expect(try await patient.value == ["premium"])
        _ = await impatient.result
        #expect(app.entitlementRequests() == 1)
    }

    @Test func aResetDropsWhatIsInFlight() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.server.gate(gate)
        let read = Task { try await app.keys() }
        let forced = Task { try await app.keys(forceRefresh: true) }
        let portal = Task { await billingError { try await app.billing.getCustomerPortal() } }
        await gate.arrivals(2)
        app.signIn(nil)
        await app.billing.reset()
        gate.open()
        #expect(try await read.value == [])
        #expect(try await forced.value == [])
        #expect(await portal.value?.name == "unauthenticated")
        #expect(try await app.keys() == [])
        #expect(app.heardSets == [])
    }

    @Test func aResetDropsASessionThatArrivesLate() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        let read = Task { try await app.keys() }
        await gate.arrivals(1)
        app.backend.withLock {
            $0.gate = nil
            $0.customer = nil
        }
        await app.billing.reset()
        gate.open()
        #expect(try await read.value == [])
        #expect(app.server.world.withLock { $0.requests.isEmpty })
    }
}
