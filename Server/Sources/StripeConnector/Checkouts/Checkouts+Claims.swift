internal import Crypto
internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

extension Checkouts {
    /// Gives what was bought signed out to who shows the secret behind its reference, once
    /// (RULES §8); what was bought in the App Store under the same secret, too.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `already_claimed`, 429 `rate_limited`.
    public func claim(
        _ request: API.CheckoutClaimRequest,
        for customer: Customer.ID,
        in environment: StoreEnvironment
    ) async throws -> API.CheckoutClaim {
        guard (16...200).contains(request.secret.unicodeScalars.count) else {
            throw Refusal.invalid("secret", "A secret has 16 to 200 characters.")
        }
        let digest = SHA256.hash(data: Array(request.secret.utf8))
        let reference = Base64URL.encode(Data(digest))
        let hashed = VisitorToken.hashedText(of: request.secret)
        let token = VisitorToken.token(hash: SHA256.hash(data: Array(hashed.utf8)))
            .uuidString.lowercased()
        let profile = try await context.profile(of: customer)
        try await requireUnclaimed(reference, for: customer)
        try claims.admit(customer.rawValue, at: context.clocks.wall())
        try await context.records.register(
            profile,
            // Where somebody has restored what the App Store sold, the token is theirs and stays so.
            also: [.reference(reference), .token(token)],
            dedupeKey: RowKey("checkout claim", reference, profile.customer.id),
            at: await context.clocks.now()
        )
        // Two customers may have shown it at once; the first registration stands.
        try await requireUnclaimed(reference, for: customer)
        let claimed = try await context.records.purchases(of: customer, in: environment)
            .map(\.record)
            .filter { $0.bears(reference, token) }
        try await adopt(claimed, profile)
        return API.CheckoutClaim(
            customer: profile.customer.id,
            purchases: claimed.map(\.key.canonical).sorted()
        )
    }

    /// - Throws: a refusal 409 `already_claimed` where another customer was here first.
    private func requireUnclaimed(_ reference: String, for customer: Customer.ID) async throws {
        guard let owner = try await context.records.profile(alias: .reference(reference)),
            owner.customer != customer
        else { return }
        throw Refusal.conflict(
            "already_claimed",
            "This purchase was claimed by another customer.",
            param: "secret"
        )
    }

    /// The purchase made a customer at Stripe; from now on that one is ours too.
    private func adopt(_ purchases: [TollgateCore.Purchase], _ profile: Profile) async throws {
        let payers = Set(
            purchases.compactMap { $0.payment?.customer ?? $0.subscription?.value.customer }
        ).sorted()
        guard !payers.isEmpty else { return }
        var profile = profile
        profile.stripeCustomer = profile.stripeCustomer ?? payers.first
        try await context.records.register(
            profile,
            also: payers.map { .stripeCustomer($0) },
            dedupeKey: RowKey(
                "stripe customers",
                profile.customer.id,
                payers.joined(separator: ",")
            ),
            at: await context.clocks.now()
        )
    }
}

extension TollgateCore.Purchase {
    /// Whether it was bought under a visitor's reference at Stripe, or their token in the App Store.
    fileprivate func bears(_ reference: String, _ token: String) -> Bool {
        payment?.reference == reference || buyer?.value.reference == reference
            || periods.contains { $0.period.token == token }
    }
}
