internal import Storage
public import Stores
internal import StripeAPI
internal import TollgateAPI
internal import TollgateCore

/// Which of our customers is which of Stripe's.
struct StripeCustomers: Sendable {
    let context: StoreContext
    let reads: StripeReads

    /// Stops selling to a Stripe customer that was deleted: the next checkout makes a new one.
    ///
    /// Purchases of the deleted one stay its owner's.
    func retire(_ id: String) async throws {
        guard let stored = try await context.records.profile(alias: .stripeCustomer(id)),
            !stored.body.isEmpty
        else { return }
        var profile = try Profile(stored)
        guard profile.stripeCustomer == id else { return }
        profile.stripeCustomer = nil
        try await context.records.register(
            profile,
            also: [.stripeCustomer(id)],
            dedupeKey: RowKey("stripe customer deleted", id),
            at: await context.clocks.now()
        )
    }

    func link(_ profile: Profile, to stripeCustomer: String) async throws {
        var profile = profile
        profile.stripeCustomer = profile.stripeCustomer ?? stripeCustomer
        try await context.records.register(
            profile,
            also: [.stripeCustomer(stripeCustomer)],
            dedupeKey: RowKey("stripe customer", profile.customer.id, stripeCustomer),
            at: await context.clocks.now()
        )
    }

    /// Links a customer of ours again to the Stripe customer that was made for them, which a restored
    /// database may have forgotten.
    ///
    /// - Returns: whether that was so.
    func relink(_ customer: Stripe.Customer) async throws -> Bool {
        guard !customer.isDeleted, let profile = try await unlinked(customer) else { return false }
        try await link(profile, to: customer.id)
        return true
    }

    /// The same where an event tells of a customer; whether they are still there, Stripe is asked.
    func relink(toldBy event: Stripe.Event) async throws -> Bool {
        guard event.objectName == Stripe.Customer.objectName,
            case .customer(let customer)? = try? event.subject(),
            try await unlinked(customer) != nil
        else { return false }
        return try await relink(reads.configured().customer(customer.id).value)
    }

    /// Ours for whom a Stripe customer was made, if that link is not known.
    private func unlinked(_ customer: Stripe.Customer) async throws -> Profile? {
        guard let ours = customer.metadata["tollgate_customer"],
            try await context.records.profile(alias: .stripeCustomer(customer.id)) == nil,
            let stored = try await context.records.profile(Customer.ID(ours)), !stored.body.isEmpty
        else { return nil }
        return try Profile(stored)
    }
}

extension Profile {
    /// Stripe's id of the customer.
    public var stripeCustomer: String? {
        get { storeCustomers[.stripe] }
        set { storeCustomers[.stripe] = newValue }
    }
}
