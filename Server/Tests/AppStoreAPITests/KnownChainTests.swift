import AppStoreAPI
import Foundation
import Testing

/// A chain is proven once; nobody can make us prove without end, or forget the real one.
@Suite struct KnownChainTests {
    @Test func aChainIsProvenOnce() throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain)
        for _ in 0..<5 {
            let jws = try chain.sign(Payloads.transaction())
            _ = try verifier.verifyTransaction(jws, now: Payloads.now)
        }
        #expect(verifier.fullChainValidations == 1)
        #expect(verifier.knownChains == 1)
    }

    @Test func anotherThirdCertificateIsNoNewChain() throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain)
        for junk in 0..<20 {
            var certificates = chain.x5c
            certificates[2] = "junk\(junk)"
            let header = chain.header(x5c: certificates)
            let jws = try chain.sign(Payloads.transaction(), header: header)
            _ = try verifier.verifyTransaction(jws, now: Payloads.now)
        }
        #expect(verifier.fullChainValidations == 1)
        #expect(verifier.knownChains == 1)
    }

    @Test func unknownChainsHaveABudgetPerSecond() throws {
        let chain = try SigningChain.make()
        let stranger = try SigningChain.make()
        let verifier = try Payloads.verifier(chain, maximumNewChainsPerSecond: 3)
        let genuine = try chain.sign(Payloads.transaction())
        _ = try verifier.verifyTransaction(genuine, now: Payloads.now)
        let forged = try stranger.sign(Payloads.transaction())
        for attempt in 2..<10 {
            let error = refusal { _ = try verifier.verifyTransaction(forged, now: Payloads.now) }
            #expect(error?.code == (attempt <= 3 ? .untrusted : .chainBudget))
            #expect(error?.isRetryable == (attempt > 3))
        }
        #expect(verifier.fullChainValidations == 3)
        _ = try verifier.verifyTransaction(genuine, now: Payloads.now)
        let later = refusal { _ = try verifier.verifyTransaction(forged, now: Payloads.now + 1000) }
        #expect(later?.code == .untrusted)
    }

    /// J4: anybody can make as many chains as they like; those of other names cost next to nothing.
    @Test func chainsOfOtherNamesCostNoBudget() throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain, maximumNewChainsPerSecond: 1)
        let others = [
            try SigningChain.make { $0.leaf.issuer = "Somebody" },
            try SigningChain.make { $0.intermediate.issuer = "Somebody" },
        ]
        for other in others {
            let forged = try other.sign(Payloads.transaction())
            for _ in 0..<5 {
                let error = refusal {
                    _ = try verifier.verifyTransaction(forged, now: Payloads.now)
                }
                #expect(error?.code == .untrusted)
            }
        }
        let genuine = try chain.sign(Payloads.transaction())
        _ = try verifier.verifyTransaction(genuine, now: Payloads.now)
        #expect(verifier.fullChainValidations == 1)
    }

    /// J4: a flood that begins with a restart does not keep out what the App Store signs.
    @Test func aChainThatWasProvenBeforeARestartNeedsNoBudget() throws {
        let chain = try SigningChain.make()
        let stranger = try SigningChain.make()
        let genuine = try chain.sign(Payloads.transaction())
        let forged = try stranger.sign(Payloads.transaction())
        let before = try Payloads.verifier(chain)
        #expect(before.provenChains.isEmpty)
        _ = refusal { _ = try before.verifyTransaction(forged, now: Payloads.now) }
        _ = try before.verifyTransaction(genuine, now: Payloads.now)
        #expect(before.provenChains.count == 1)

        for recalls in [true, false] {
            let verifier = try Payloads.verifier(chain, maximumNewChainsPerSecond: 1)
            if recalls { verifier.recall(before.provenChains) }
            _ = refusal { _ = try verifier.verifyTransaction(forged, now: Payloads.now) }
            let error = refusal { _ = try verifier.verifyTransaction(genuine, now: Payloads.now) }
            #expect(error?.code == (recalls ? nil : .chainBudget))
        }
    }

    /// Whoever writes digests into the database gains one proof outside of the budget, and no trust.
    @Test func aDigestProvesNothing() throws {
        let stranger = try SigningChain.make()
        let theirs = try Payloads.verifier(stranger)
        let forged = try stranger.sign(Payloads.transaction())
        _ = try theirs.verifyTransaction(forged, now: Payloads.now)
        let verifier = try Payloads.verifier(
            try SigningChain.make(),
            maximumNewChainsPerSecond: 1
        )
        verifier.recall(theirs.provenChains)
        for code in [.untrusted, .untrusted, .chainBudget] as [AppStore.VerificationError.Code] {
            let error = refusal { _ = try verifier.verifyTransaction(forged, now: Payloads.now) }
            #expect(error?.code == code)
        }
        #expect(verifier.knownChains == 0 && verifier.provenChains.isEmpty)
    }

    @Test func theLeastUsedChainMakesRoom() throws {
        let blueprints = SigningChain.Blueprints()
        func sibling() throws -> SigningChain {
            try SigningChain.make {
                $0.root = blueprints.root
                $0.intermediate = blueprints.intermediate
            }
        }
        let first = try sibling()
        let root = try SigningChain.certificate(blueprints.root, signedBy: blueprints.root.key)
        let verifier = try AppStore.SignedDataVerifier(
            roots: [root],
            bundleID: Payloads.bundleID,
            appAppleID: Payloads.appAppleID,
            environments: [.production],
            maximumChains: 2
        )
        func verify(_ chain: SigningChain) throws {
            _ = try verifier.verifyTransaction(
                try chain.sign(Payloads.transaction()),
                now: Payloads.now
            )
        }
        try verify(first)
        try verify(try sibling())
        try verify(first)
        try verify(try sibling())
        #expect(verifier.knownChains == 2)
        #expect(verifier.fullChainValidations == 3)
        try verify(first)
        #expect(verifier.fullChainValidations == 3)
    }

    @Test func validityIsCheckedForEachPayloadOfAKnownChain() throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain)
        let now: Int64 = 2_600_000_000_000
        func verify(_ date: Int64) throws {
            let jws = try chain.sign(Payloads.transaction(["signedDate": "\(date)"]))
            _ = try verifier.verifyTransaction(jws, now: now)
        }
        try verify(1_577_836_800_000)
        try verify(2_524_608_000_000)
        #expect(refusal { try verify(1_577_836_799_999) }?.rule == .certificateNotYetValid)
        #expect(refusal { try verify(2_524_608_000_001) }?.rule == .certificateExpired)
        #expect(verifier.fullChainValidations == 1)
    }

    @Test func manyTasksShareOneVerifier() async throws {
        let chain = try SigningChain.make()
        let verifier = try Payloads.verifier(chain, maximumNewChainsPerSecond: 1)
        let jws = try chain.sign(Payloads.notification())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        _ = try verifier.verifyNotification(signedPayload: jws, now: Payloads.now)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(verifier.knownChains == 1)
        #expect(verifier.fullChainValidations == 1)
    }
}
