import Foundation
internal import TollgateAPI

/// The last signed answer, and whether it may be trusted while the server cannot be reached.
///
/// What decides is signed: the file around it may be lost or forged, that gains nothing. Names and
/// ids beside the token are for display only.
final class OfflineAnswers: Sendable {
    /// What is kept beside the token.
    private struct Kept: Codable {
        var customer: String
        var token: String
        var names: [Entitlement]
        /// The latest wall clock that this device has shown; time does not go back behind it.
        var highestSeen: Date
    }

    private struct Guarded {
        var kept: Kept?
        var keys = JSONWebKeySet(keys: [])
        var isLoaded = false
    }

    private let verifySignature: BillingSDK.Configuration.SignatureCheck?
    private let storage: OfflineStorage
    private let guarded = Locked(Guarded())

    init(
        verifySignature: BillingSDK.Configuration.SignatureCheck?,
        storage: OfflineStorage
    ) {
        self.verifySignature = verifySignature
        self.storage = storage
    }

    /// Without a check nothing is kept and nothing is trusted.
    var canVerify: Bool { verifySignature != nil }

    // MARK: - Keeping

    /// Keeps an answer that has just come from the server, if `isCurrent` still holds by then.
    func keep(
        token: String,
        names: [Entitlement],
        customer: String,
        at now: Date,
        if isCurrent: () -> Bool
    ) {
        guarded.withLock { guarded in
            load(&guarded)
            guard isCurrent() else { return }
            let kept = Kept(customer: customer, token: token, names: names, highestSeen: now)
            guarded.kept = kept
            storage.save(.answer, try? APIJSON.encode(kept))
        }
    }

    func keep(keys: JSONWebKeySet) {
        guarded.withLock { guarded in
            guarded.keys = keys
            storage.save(.keys, try? APIJSON.encode(keys))
        }
    }

    /// Whether the token names a key that we have not got.
    func lacksKey(of token: String) -> Bool {
        guard let keyID = JSONWebToken(compact: token)?.header.kid else { return false }
        return guarded.withLock { guarded in
            load(&guarded)
            return guarded.keys[keyID] == nil
        }
    }

    /// Forgets the answer; keys are nobody's secret and stay.
    func forget() { keepOnly(customer: nil) }

    /// Forgets the answer unless it is this customer's.
    func keepOnly(customer: String?) {
        guarded.withLock { guarded in
            load(&guarded)
            guard let kept = guarded.kept, kept.customer != customer else { return }
            guarded.kept = nil
            storage.save(.answer, nil)
        }
    }

    private func load(_ guarded: inout Guarded) {
        guard !guarded.isLoaded else { return }
        guarded.isLoaded = true
        guarded.kept = storage.load(.answer).flatMap { try? APIJSON.decode(Kept.self, from: $0) }
        if let data = storage.load(.keys),
            let keys = try? APIJSON.decode(JSONWebKeySet.self, from: data)
        {
            guarded.keys = keys
        }
    }

    // MARK: - Trusting

    /// What the signed answer says for `now`; nil if there is none that can be trusted.
    ///
    /// - Parameter customer: who is signed in; nil if only the last one is known.
    func answer(for customer: String?, at now: Date) -> [Entitlement]? {
        guard canVerify else { return nil }
        return guarded.withLock { guarded in
            load(&guarded)
            guard var kept = guarded.kept, customer == nil || customer == kept.customer,
                let claims = verified(kept.token, keys: guarded.keys),
                claims.sub == kept.customer, claims.aud == API.SignedAnswer.audience
            else { return nil }
            // A clock that was set back does not lengthen the answer's life.
            let now = max(now, kept.highestSeen)
            let issued = Date(timeIntervalSince1970: TimeInterval(claims.iat))
            let ends = Date(timeIntervalSince1970: TimeInterval(claims.exp))
            guard now < ends else { return nil }
            if now.timeIntervalSince(kept.highestSeen) > 60 {
                kept.highestSeen = now
                guarded.kept = kept
                storage.save(.answer, try? APIJSON.encode(kept))
            }
            let instant = claims.at.advanced(
                byWholeMilliseconds: now.timeIntervalSince(issued)
            )
            return claims.active(at: instant).map { key in
                kept.names.first { $0.lookupKey == key }
                    ?? Entitlement(id: key, feature: key, lookupKey: key)
            }
        }
    }

    private func verified(_ token: String, keys: JSONWebKeySet) -> API.SignedAnswer? {
        guard let verifySignature, let token = JSONWebToken(compact: token),
            token.header.alg == "ES256", token.signature.count == 64,
            let keyID = token.header.kid, let key = keys[keyID]?.x963Representation,
            verifySignature(token.signingInput, token.signature, key)
        else { return nil }
        return try? APIJSON.decode(API.SignedAnswer.self, from: token.payload)
    }
}
