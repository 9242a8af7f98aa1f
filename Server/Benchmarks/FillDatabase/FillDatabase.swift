import Foundation
import Logging
import Storage
import StoragePostgres
import StorageSQLite
import Stores
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService

/// Fills a database with customers, each with one active subscription.
///
/// It goes the server's own way, from the facts on: customers are created and purchases journalled
/// as the server does it, and what is told of them has its place in the feed. Only signatures and
/// HTTP are left out, and, unless `--messages` asks for them, the journalled bodies, as if they had been
/// erased. Prints how many customers there are (fewer than asked for if the time was up), then ids of
/// some of them.
@main
struct FillDatabase {
    /// The number of customers who are being filled in at once; a commit takes 256 messages.
    static let waiting = 1_024

    static func main() async throws {
        let options = try Options(CommandLine.arguments)
        let driver: any StorageDriver =
            if let path = options.sqlitePath {
                try StorageSQLite(path: path, cacheKiB: 256_000)
            } else {
                try StoragePostgres(url: options.database)
            }
        let store = try await RecordStore(driver)
        let catalog = try CatalogReader.read(bytes: options.catalog)
        try await store.adopt(catalog, at: options.started)
        let tollgate = try await application(store, started: options.started)

        let began = ContinuousClock.now
        let shares = try await withThrowingTaskGroup(of: Share.self) { group in
            for worker in 0..<waiting {
                group.addTask {
                    var share = Share(next: worker)
                    while share.next < options.customers,
                        began.duration(to: .now) < options.patience
                    {
                        let person = Person(number: share.next, started: options.started)
                        let id = try await tollgate.customers.create(person.request).customer.id
                        try await submit(person.purchases(messages: options.messages), to: store)
                        if share.next % options.sampledEvery == 0 { share.ids[share.next] = id }
                        share.next += waiting
                    }
                    return share
                }
            }
            var shares: [Share] = []
            for try await share in group { shares.append(share) }
            return shares
        }
        // A server that had taken them in would have told of them long ago; one that starts with a
        // million messages to tell of is busy with nothing else.
        await tollgate.events.publish()
        await driver.close()
        let reached = min(options.customers, shares.map(\.next).min() ?? 0)
        print(reached)
        for share in shares {
            for (number, id) in share.ids where number < reached { print(id) }
        }
    }

    /// Submits a customer's messages at once, so that one commit takes in several and writes the purchase
    /// once.
    private static func submit(_ items: [JournalItem], to store: RecordStore) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for item in items { group.addTask { _ = try await store.submit(item) } }
            try await group.waitForAll()
        }
    }

    /// What one worker did: every so many-th customer.
    private struct Share: Sendable {
        /// The first that it did not do.
        var next: Int
        var ids: [Int: String] = [:]
    }

    private static func application(
        _ store: RecordStore,
        started: Instant
    ) async throws -> Tollgate {
        Tollgate(
            configuration: Configuration(
                secretKey: "sk_test_fill",
                publishableKey: "pk_test_fill",
                publicURL: "http://127.0.0.1",
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: nil,
            stripe: nil,
            clocks: Clocks(now: { started }, wall: { started }),
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: .min ... .max) } },
            signer: try await AnswerSigner(keptIn: store.driver),
            logger: Logger(label: "fill")
        )
    }
}
