import Foundation
internal import TollgateAPI

/// Checkouts that were begun signed out, and their claim by who signs in (RULES §8).
///
/// A checkout bears `client_reference_id` = base64url(SHA-256(secret)). The secret stays on the device
/// until the server has taken the claim, also over a sign-out, for it is all that leads to the purchase.
struct VisitorCheckouts: Sendable {
    private struct Secret: Codable, Hashable {
        var secret: String
        /// Who signed in first since; nobody else claims it.
        var customer: String?
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

    /// What a checkout that is begun now bears.
    func reference() -> String {
        if let known = secrets.first(where: { $0.customer == nil }) {
            return Self.reference(of: known.secret)
        }
        // 256 bits of the system's own chance.
        let new = Base64URL.encode(Data((0..<32).map { _ in UInt8.random(in: 0...255) }))
        // Beside any other: one that is begun at the same time has its own.
        change { $0.append(Secret(secret: new)) }
        return Self.reference(of: new)
    }

    static func reference(of secret: String) -> String {
        Base64URL.encode(SecureHash.of(Data(secret.utf8)))
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
                hasPurchases = hasPurchases || !claim.purchases.isEmpty
                end(secret)
            } catch BillingSDKError.requestRefused(let status, let code, _)
                where HTTPResponse.isFinal(status, APIError.Code(rawValue: code))
            {
                // Somebody else has claimed it.
                end(secret)
            } catch {
                // The next sign-in or launch claims it.
            }
        }
        if hasPurchases { _ = try? await client.activeEntitlements(forceRefresh: true) }
    }

    private func end(_ secret: String) {
        change { $0.removeAll { $0.secret == secret } }
    }

    @discardableResult
    private func change<Result>(
        _ body: @escaping @Sendable (inout [Secret]) -> Result
    ) -> Result {
        storage.changeList(.visitorSecrets, of: Secret.self, body)
    }
}
