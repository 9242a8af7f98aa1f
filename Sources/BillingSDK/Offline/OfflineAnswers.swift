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
        /// The time since this device was started, when `highestSeen` was seen.
        var uptime: TimeInterval?
    }

    /// The slice of the catalog, as it came.
    private struct KeptCatalog: Codable {
        var token: String
        var takenAt: Date
    }

    /// Why StoreKit's word must not stand in, although there is no answer.
    private enum Mark: Codable, Hashable {
        /// The last that was heard is that nobody is signed in.
        case signedOut
        /// The server would not vouch for this customer any more.
        case withdrawn(String)
    }

    private struct Guarded {
        var kept: Kept?
        var catalog: KeptCatalog?
        var mark: Mark?
        var keys = JSONWebKeySet(keys: [])
        var isLoaded = false
    }

    private let verifySignature: BillingSDK.Configuration.SignatureCheck?
    private let storage: OfflineStorage
    private let uptime: @Sendable () -> TimeInterval
    private let guarded = Locked(Guarded())

    init(
        verifySignature: BillingSDK.Configuration.SignatureCheck?,
        storage: OfflineStorage,
        uptime: @escaping @Sendable () -> TimeInterval
    ) {
        self.verifySignature = verifySignature
        self.storage = storage
        self.uptime = uptime
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
            let kept = Kept(
                customer: customer,
                token: token,
                names: names,
                highestSeen: now,
                uptime: uptime()
            )
            guarded.kept = kept
            storage.save(.answer, try? APIJSON.encode(kept))
            set(nil, &guarded)
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

    /// Nobody is signed in: forgets the answer; keys are nobody's secret and stay.
    func forget() { keepOnly(customer: nil) }

    /// The server will not vouch for `customer` any more.
    func withdraw(_ customer: String?) {
        guarded.withLock { guarded in
            load(&guarded)
            removeAnswer(&guarded)
            set(customer.map(Mark.withdrawn) ?? .signedOut, &guarded)
        }
    }

    /// Forgets the answer unless it is this customer's; nil: nobody is signed in.
    func keepOnly(customer: String?) {
        guarded.withLock { guarded in
            load(&guarded)
            if let customer {
                if guarded.mark != .withdrawn(customer) { set(nil, &guarded) }
            } else {
                set(.signedOut, &guarded)
            }
            if guarded.kept?.customer != customer { removeAnswer(&guarded) }
        }
    }

    private func removeAnswer(_ guarded: inout Guarded) {
        guard guarded.kept != nil else { return }
        guarded.kept = nil
        storage.save(.answer, nil)
    }

    private func set(_ mark: Mark?, _ guarded: inout Guarded) {
        guard guarded.mark != mark else { return }
        guarded.mark = mark
        storage.save(.mark, mark.flatMap { try? APIJSON.encode($0) })
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
        guarded.catalog = storage.load(.catalog).flatMap {
            try? APIJSON.decode(KeptCatalog.self, from: $0)
        }
        guarded.mark = storage.load(.mark).flatMap { try? APIJSON.decode(Mark.self, from: $0) }
    }

    // MARK: - The slice of the catalog

    /// Whether a slice should be fetched: there is none, or it is older than a day.
    func wantsCatalog(at now: Date) -> Bool {
        guard canVerify else { return false }
        return guarded.withLock { guarded in
            load(&guarded)
            guard let age = guarded.catalog.map({ now.timeIntervalSince($0.takenAt) }) else {
                return true
            }
            return age < 0 || age > 86_400
        }
    }

    func keep(catalog token: String, at now: Date) {
        guarded.withLock { guarded in
            load(&guarded)
            let kept = KeptCatalog(token: token, takenAt: now)
            guarded.catalog = kept
            storage.save(.catalog, try? APIJSON.encode(kept))
        }
    }

    /// The slice that can be trusted at `now`.
    func catalog(at now: Date) -> API.SignedCatalog? {
        guarded.withLock { guarded in
            load(&guarded)
            guard let kept = guarded.catalog,
                let claims = verified(API.SignedCatalog.self, kept.token, keys: guarded.keys),
                claims.aud == API.SignedCatalog.audience,
                max(now, kept.takenAt) < Date(timeIntervalSince1970: TimeInterval(claims.exp))
            else { return nil }
            return claims
        }
    }

    /// Whether the server has never said anything about this customer that this device remembers, and
    /// nobody has said that they are signed out.
    ///
    /// - Parameter customer: who is signed in; nil if nobody could be asked.
    func hasNoAnswer(for customer: String?) -> Bool {
        guarded.withLock { guarded in
            load(&guarded)
            guard let customer else { return guarded.kept == nil && guarded.mark == nil }
            return guarded.kept?.customer != customer && guarded.mark != .withdrawn(customer)
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
                let claims = verified(API.SignedAnswer.self, kept.token, keys: guarded.keys),
                claims.sub == kept.customer, claims.aud == API.SignedAnswer.audience
            else { return nil }
            // A clock that was set back does not lengthen the answer's life: time goes on at least
            // as the device has been running since, and after a restart from the latest that was seen.
            let uptime = uptime()
            let running = kept.uptime.map { max(0, uptime - $0) } ?? 0
            let now = max(now, kept.highestSeen.addingTimeInterval(running))
            let issued = Date(timeIntervalSince1970: TimeInterval(claims.iat))
            let ends = Date(timeIntervalSince1970: TimeInterval(claims.exp))
            // What was seen counts even if it ends the answer: then setting the clock back is in vain.
            if now.timeIntervalSince(kept.highestSeen) > 60 || now >= ends {
                kept.highestSeen = now
                kept.uptime = uptime
                guarded.kept = kept
                storage.save(.answer, try? APIJSON.encode(kept))
            }
            guard now < ends else { return nil }
            let instant = claims.at.advanced(
                byWholeMilliseconds: now.timeIntervalSince(issued)
            )
            return claims.active(at: instant).map { key in
                kept.names.first { $0.lookupKey == key }
                    ?? Entitlement(id: key, feature: key, lookupKey: key)
            }
        }
    }

    private func verified<Claims: Decodable>(
        _ type: Claims.Type,
        _ token: String,
        keys: JSONWebKeySet
    ) -> Claims? {
        guard let verifySignature, let token = JSONWebToken(compact: token),
            token.header.alg == "ES256", token.signature.count == 64,
            let keyID = token.header.kid, let key = keys[keyID]?.x963Representation,
            verifySignature(token.signingInput, token.signature, key)
        else { return nil }
        return try? APIJSON.decode(type, from: token.payload)
    }
}
