internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

/// Makes customers known under the names that the app, the stores and we have for them.
public struct Customers: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let random: RandomSource
    let directory: CustomerDirectory
    let names: CustomerNames

    /// Makes a customer known, or finds the one with this `app_user_id` and adds what is new.
    ///
    /// - Returns: the customer, and whether they are new.
    public func create(
        _ request: API.CreateCustomerRequest
    ) async throws -> (customer: API.Customer, isNew: Bool) {
        guard (1...255).contains(request.appUserID.utf8.count), !request.appUserID.utf8.contains(0)
        else {
            throw Refusal.invalid(
                "app_user_id",
                "An app_user_id has 1 to 255 bytes, none of them 0."
            )
        }
        // Both are names of one customer; one must not be taken for another's.
        guard !CustomerNames.isOurs(request.appUserID) else {
            throw Refusal.invalid(
                "app_user_id",
                "An app_user_id does not begin with '\(CustomerNames.prefix)'."
            )
        }
        guard request.email.map(Profile.isEmail) ?? true else {
            throw Refusal.invalid(
                "email",
                "An email address has no line breaks or control characters."
            )
        }
        var token: String?
        if let given = request.appAccountToken {
            guard let uuid = UUID(uuidString: given) else {
                throw Refusal.invalid("app_account_token", "An app_account_token is a UUID.")
            }
            token = uuid.uuidString.lowercased()
        }
        if let known = try await directory.stored(appUserID: request.appUserID) {
            return (try await update(known, with: request, token: token), false)
        }
        if let token { try await requireFree(token, for: nil) }
        let names = try await self.names.names(of: request.appUserID)
        let customer = API.Customer(
            id: names.id,
            appUserID: request.appUserID,
            appAccountToken: token ?? names.appAccountToken,
            email: request.email,
            metadata: request.metadata ?? [:],
            consumptionConsent: request.consumptionConsent ?? false,
            created: await clocks.now().milliseconds
        )
        let outcome = try await records.register(
            Profile(customer: customer),
            dedupeKey: RowKey("customer", request.appUserID),
            at: await clocks.now()
        )
        if case .duplicate = outcome {
            // Somebody else was registering the same user; theirs stands.
            guard let known = try await directory.stored(appUserID: request.appUserID) else {
                throw Refusal(
                    410,
                    .customerErased,
                    "The customer with this app_user_id was erased.",
                    param: "app_user_id"
                )
            }
            return (try Profile(known).customer, false)
        }
        return (customer, true)
    }

    /// Makes a customer known, or finds them, with an account token that comes from another system.
    ///
    /// It is left out where another customer has it, and where this one was given a token already.
    package func create(
        _ request: API.CreateCustomerRequest,
        preferring token: String
    ) async throws -> API.Customer {
        var named = request
        named.appAccountToken = token
        if let known = try await directory.stored(appUserID: request.appUserID) {
            let derived = try await names.names(of: request.appUserID).appAccountToken
            let current = try Profile(known).customer.appAccountToken
            guard current == derived else { return try await create(request).customer }
        }
        do {
            return try await create(named).customer
        } catch let refusal as Refusal where refusal.status < 500 {
            return try await create(request).customer
        }
    }

    /// - Throws: a refusal 409 `token_taken` where another customer registered this token.
    private func requireFree(_ token: String, for customer: String?) async throws {
        guard let other = try await records.profile(alias: .token(token)),
            other.customer.rawValue != customer
        else { return }
        throw Refusal.conflict(
            "token_taken",
            "This app_account_token belongs to another customer.",
            param: "app_account_token"
        )
    }

    private func update(
        _ known: StoredProfile,
        with request: API.CreateCustomerRequest,
        token: String?
    ) async throws -> API.Customer {
        var profile = try Profile(known)
        let before = profile.customer
        if let token {
            try await requireFree(token, for: before.id)
            profile.customer.appAccountToken = token
        }
        if let email = request.email { profile.customer.email = email }
        if let metadata = request.metadata {
            profile.customer.metadata.merge(metadata) { _, new in new }
        }
        if let consent = request.consumptionConsent {
            profile.customer.consumptionConsent = consent
        }
        if profile.customer != before {
            try await records.register(
                profile,
                dedupeKey: RowKey("customer update", before.id, random.id("")),
                at: await clocks.now()
            )
        }
        return profile.customer
    }
}
