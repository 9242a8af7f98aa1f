import AppStoreAPI
import AppStoreConnector
import Storage
import Testing
import TollgateAssembly
import TollgateService
import TollgateSimulation

@Suite("Certificate chains that were proven")
struct ProvenChainTests {
    @Test("J4: are remembered across a restart, by their digests", arguments: Backend.allCases)
    func kept(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let (tollgate, store) = (server.tollgate, server.tollgate.store)
            try await tollgate.appStore.keepWhatIsKnown()
            #expect(try await store.journal.provenChains().isEmpty)
            _ = try await server.customerWithCoins()
            try await tollgate.appStore.keepWhatIsKnown()
            let proven = try #require(tollgate.appStore.verifier?.provenChains)
            #expect(proven.count == 1 && proven.first?.count == 32)
            #expect(try await store.journal.provenChains() == proven)
            // Another server of the same database adds its own.
            let other = [UInt8](repeating: 7, count: 32)
            try await store.journal.keepProvenChains([other])
            #expect(try await store.journal.provenChains() == [other] + proven)
            try await store.journal.keepProvenChains(
                (0..<100).map { [UInt8](repeating: $0, count: 32) }
            )
            #expect(try await store.journal.provenChains().count == 64)
        }
    }
}
