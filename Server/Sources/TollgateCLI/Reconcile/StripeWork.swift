import ArgumentParser
import TollgateService

/// Long work with Stripe by a command: the application without its HTTP server.
enum StripeWork {
    /// - Throws: a usage error where Stripe is not set up, and what `StoreWork` throws.
    static func run<Result: Sendable>(
        database: String?,
        catalog: String?,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let store = try StoreWork(database: database, catalog: catalog)
        guard store.stores.stripeSecretKey != nil else {
            throw ValidationError("Set TOLLGATE_STRIPE_SECRET_KEY (sk_… or rk_…).")
        }
        return try await store.run(
            over: { .init(stripe: store.stores.stripe(over: $0)) },
            work
        )
    }
}
