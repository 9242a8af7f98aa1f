import Foundation
internal import TollgateAPI

/// What is bought signed out, and its claim by who signs in (RULES §8).
///
/// A checkout bears `client_reference_id` = base64url(SHA-256(secret)), a purchase in the App Store an account
/// token from the same secret. The secret stays on the device until the server has taken the claim, also
/// over a sign-out, for it is all that leads to the purchase.
struct VisitorPurchases: Sendable {
    private struct Secret: Codable, Hashable {
        /// Empty once it was claimed, where the token is still told from others.
        var secret: String
        /// Who signed in first since, and claims it; once it was claimed, a hash of them.
        var customer: String?
        /// The account token, once it was given to the App Store.
        var token: UUID?
    }

    let client: BillingClient
    private let storage: OfflineStorage

    init(client: BillingClient) { self.init(client: client, storage: client.storage) }

    init(client: BillingClient, storage: OfflineStorage) {
        self.client = client
        self.storage = storage
    }

    private var secrets: [Secret] {
        storage.value([Secret].self, of: .visitorSecrets) ?? []
    }

    // MARK: - Buying

    /// What a checkout that is begun now bears.
    func reference() -> String { Self.reference(of: secret()) }

    /// What a purchase in the App Store that is begun now bears.
    func accountToken() -> UUID {
        let secret = secret()
        let token = Self.accountToken(of: secret)
        change { secrets in
            for index in secrets.indices where secrets[index].secret == secret {
                secrets[index].token = token
            }
        }
        return token
    }

    /// The secret of who is here now, and has not signed in.
    private func secret() -> String {
        if let known = secrets.first(where: { $0.customer == nil }) { return known.secret }
        // 256 bits of the system's own chance.
        let new = Base64URL.encode(Data((0..<32).map { _ in UInt8.random(in: 0...255) }))
        // Beside any other: one that is begun at the same time has its own.
        change { $0.append(Secret(secret: new)) }
        return new
    }

    static func reference(of secret: String) -> String {
        Base64URL.encode(SecureHash.of(Data(secret.utf8)))
    }

    static func accountToken(of secret: String) -> UUID {
        VisitorToken.token(
            hash: SecureHash.of(Data(VisitorToken.hashedText(of: secret).utf8))
        )
    }

    // MARK: - Claiming

    /// Whether anything may have been bought signed out that `customer`, who is signed in, has yet to claim.
    func hasUnclaimed(for customer: String) -> Bool {
        secrets.contains { !$0.secret.isEmpty && ($0.customer == nil || $0.customer == customer) }
    }

    /// Claims what was bought signed out for `customer`, who is signed in; failures wait.
    func claim(for customer: String) async {
        let mine = change { secrets in
            for index in secrets.indices where secrets[index].customer == nil {
                secrets[index].customer = customer
            }
            return secrets.filter { $0.customer == customer }.map(\.secret)
        }
        var hasPurchases = false
        for secret in mine {
            // Where it fails, the next foreground, sign-in or launch claims it.
            if (try? await claim(secret, for: customer)) == true { hasPurchases = true }
        }
        if hasPurchases { _ = try? await client.activeEntitlements(forceRefresh: true) }
    }

    /// Claims what a transaction of `customer`'s device is of, where that has not succeeded yet: only shown it
    /// would be refused for good, and finished.
    ///
    /// - Throws: what keeps the server from hearing the claim; the transaction waits for the next try.
    func claim(before transaction: SignedTransaction, for customer: String) async throws {
        guard let token = transaction.accountToken,
            let secret = secrets.first(where: {
                $0.token == token && !$0.secret.isEmpty
                    && ($0.customer == nil || $0.customer == customer)
            })?.secret
        else { return }
        _ = try await claim(secret, for: customer)
    }

    /// - Returns: whether anything has been bought under the secret.
    /// - Throws: what keeps the server from hearing it.
    private func claim(_ secret: String, for customer: String) async throws -> Bool {
        do {
            let claim = try await client.customerCall(API.CheckoutClaim.self) { session in
                guard session.customer == customer else {
                    throw BillingSDKError.unauthenticated
                }
                return try client.request(
                    "POST",
                    APIPath.checkoutClaims.path,
                    key: session.clientSecret,
                    body: API.CheckoutClaimRequest(secret: secret)
                )
            }
            end(secret, of: customer)
            return !claim.purchases.isEmpty
        } catch BillingSDKError.requestRefused(let status, let code, _)
            where HTTPResponse.isFinal(status, APIError.Code(rawValue: code))
        {
            // Somebody else has claimed it.
            end(secret, of: "")
            return false
        }
    }

    /// The server knows whose it is; a token that the App Store has stays theirs on this device.
    private func end(_ secret: String, of customer: String) {
        let owner = Self.reference(of: customer)
        change { secrets in
            guard let index = secrets.firstIndex(where: { $0.secret == secret }) else { return }
            secrets[index].secret = ""
            secrets[index].customer = owner
            if secrets[index].token == nil { secrets.remove(at: index) }
        }
    }

    @discardableResult
    private func change<Result>(
        _ body: @escaping @Sendable (inout [Secret]) -> Result
    ) -> Result {
        storage.changeList(.visitorSecrets, of: Secret.self, body)
    }

    // MARK: - Whose a token is

    /// Whether a visitor's token may be `customer`'s, as far as this device knows; `nil`: a visitor.
    ///
    /// One that was given out by another device, or before the app was deleted, is like none at all.
    func mayBelong(_ token: UUID, to customer: String?) -> Bool {
        guard VisitorToken.isOne(token) else { return false }
        guard let owner = secrets.first(where: { $0.token == token })?.customer else { return true }
        guard let customer else { return false }
        return owner == customer || owner == Self.reference(of: customer)
    }
}

extension BillingClient {
    /// Claims what was bought signed out, where the server could not hear it at sign-in.
    func claimWhatVisitorsBought() async {
        guard let customer = guarded.withLock({ $0.state.customer }) else { return }
        await VisitorPurchases(client: self).claim(for: customer)
    }
}
