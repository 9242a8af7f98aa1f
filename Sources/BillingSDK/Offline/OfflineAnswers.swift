import Foundation
internal import TollgateAPI

/// The last signed answer, and whether it may be trusted while the server cannot be reached.
///
/// What decides is signed: the file around it may be lost or forged, that gains nothing. Names and
/// ids beside the token are for display only.
final class OfflineAnswers: Sendable {
    /// What is kept beside the token.
    private struct Kept: Codable, Equatable {
        var customer: String
        var token: String
        var names: [Entitlement]
        /// The latest wall clock that this device has shown; time does not go back behind it.
        var highestSeen: Date
        /// The time since this device was started, asleep or awake, when `highestSeen` was seen.
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

    private let verifySignature: BillingSDK.Configuration.SignatureCheck?
    /// This app's: what was signed for another app of the team is not trusted.
    private let publishableKey: String
    private let storage: OfflineStorage
    private let isOfExtension: Bool
    private let uptime: @Sendable () -> TimeInterval

    init(
        verifySignature: BillingSDK.Configuration.SignatureCheck?,
        publishableKey: String,
        storage: OfflineStorage,
        isOfExtension: Bool,
        uptime: @escaping @Sendable () -> TimeInterval
    ) {
        self.verifySignature = verifySignature
        self.publishableKey = publishableKey
        self.storage = storage
        self.isOfExtension = isOfExtension
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
        let new = Kept(
            customer: customer,
            token: token,
            names: names,
            highestSeen: now,
            uptime: uptime()
        )
        storage.alone {
            guard isCurrent() else { return }
            set(nil)
            changeAnswer { [weak self] kept in
                // Another process of this app may have been told something newer meanwhile.
                if let kept, kept.customer == customer, let self,
                    self.issued(token) < self.issued(kept.token)
                {
                    return kept
                }
                return new
            }
        }
    }

    /// When a token that can be trusted was issued; others count as older than all.
    private func issued(_ token: String) -> Int64 {
        verified(API.SignedAnswer.self, token)?.iat ?? .min
    }

    func keep(keys: JSONWebKeySet) { storage.keep(keys, as: .keys) }

    /// Whether the token names a key that we have not got.
    func lacksKey(of token: String) -> Bool {
        guard let keyID = JSONWebToken(compact: token)?.header.kid else { return false }
        return keys[keyID] == nil
    }

    /// The app says that nobody is signed in: forgets the answer; keys are nobody's secret and stay.
    func forget() {
        storage.alone {
            set(.signedOut)
            removeAnswer()
        }
    }

    /// The provider says that nobody is signed in.
    ///
    /// A widget's provider may know nobody while the app's customer is signed in. So in an extension only
    /// a process that had this customer may say that they have left.
    /// - Parameter customer: who was signed in last in this process.
    func nobodyIsSignedIn(after customer: String?) {
        storage.alone {
            // Before the first unlock the app's own token may be out of reach, too.
            guard storage.isReadable(.answer) else { return }
            guard !isOfExtension || (customer != nil && kept?.customer == customer) else { return }
            set(.signedOut)
            removeAnswer()
        }
    }

    /// The server will not vouch for `customer` any more.
    func withdraw(_ customer: String?) {
        storage.alone {
            removeAnswer()
            set(customer.map(Mark.withdrawn) ?? .signedOut)
        }
    }

    /// Forgets the answer unless it is this customer's, who is signed in.
    func keepOnly(customer: String) {
        storage.alone {
            storage.change(.mark) { data in
                let mark = data.flatMap { try? APIJSON.decode(Mark.self, from: $0) }
                return mark == .withdrawn(customer) ? data : nil
            }
            changeAnswer { $0?.customer == customer ? $0 : nil }
        }
    }

    private func removeAnswer() { storage.save(.answer, nil) }

    /// Changes the kept answer; one that stays as it is keeps its bytes.
    private func changeAnswer(_ body: @escaping @Sendable (Kept?) -> Kept?) {
        storage.change(.answer) { data in
            let kept = data.flatMap { try? APIJSON.decode(Kept.self, from: $0) }
            let new = body(kept)
            return new == kept ? data : new.flatMap { try? APIJSON.encode($0) }
        }
    }

    private func set(_ mark: Mark?) {
        if !storage.isReadable(.mark) || self.mark != mark { storage.keep(mark, as: .mark) }
    }

    /// Whose answer is kept.
    var keptCustomer: String? { kept?.customer }

    private var kept: Kept? { storage.value(Kept.self, of: .answer) }
    private var mark: Mark? { storage.value(Mark.self, of: .mark) }
    private var keys: JSONWebKeySet {
        storage.value(JSONWebKeySet.self, of: .keys) ?? JSONWebKeySet(keys: [])
    }
    private var keptCatalog: KeptCatalog? { storage.value(KeptCatalog.self, of: .catalog) }

    // MARK: - The slice of the catalog

    /// Whether a slice should be fetched: there is none, or it is older than a day.
    func wantsCatalog(at now: Date) -> Bool {
        guard canVerify else { return false }
        guard let age = keptCatalog.map({ now.timeIntervalSince($0.takenAt) }) else { return true }
        return age < 0 || age > 86_400
    }

    func keep(catalog token: String, at now: Date) {
        storage.keep(KeptCatalog(token: token, takenAt: now), as: .catalog)
    }

    /// The slice that can be trusted at `now`.
    func catalog(at now: Date) -> API.SignedCatalog? {
        guard let kept = keptCatalog, let claims = verified(API.SignedCatalog.self, kept.token),
            claims.aud == API.SignedCatalog.audience, isOurs(claims.azp),
            max(now, kept.takenAt) < Date(timeIntervalSince1970: TimeInterval(claims.exp))
        else { return nil }
        return claims
    }

    /// Whether the server has never said anything about this customer that this device remembers, and
    /// nobody has said that they are signed out.
    ///
    /// - Parameter customer: who is signed in; nil if nobody could be asked.
    func hasNoAnswer(for customer: String?) -> Bool {
        // What cannot be read yet may say no.
        guard storage.isReadable(.answer), storage.isReadable(.mark) else { return false }
        guard let customer else { return kept == nil && mark == nil }
        return kept?.customer != customer && mark != .withdrawn(customer)
    }

    // MARK: - Trusting

    /// What the signed answer says for `now`; nil if there is none that can be trusted.
    ///
    /// - Parameter customer: who is signed in; nil if only the last one is known.
    func answer(for customer: String?, at now: Date) -> ClientState.EarlierAnswer? {
        guard canVerify else { return nil }
        return storage.alone {
            guard var kept, customer == nil || customer == kept.customer,
                let claims = verified(API.SignedAnswer.self, kept.token),
                claims.sub == kept.customer, claims.aud == API.SignedAnswer.audience,
                isOurs(claims.azp)
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
                storage.keep(kept, as: .answer)
            }
            guard now < ends else { return nil }
            let instant = claims.at.advanced(
                byWholeMilliseconds: now.timeIntervalSince(issued)
            )
            let active = claims.active(at: instant).map { key in
                let name = kept.names.first { $0.lookupKey == key }
                // What was said of the period that ran then says nothing of what follows it.
                let isAsSaid = name?.until.map { Date(milliseconds: instant) < $0 } ?? true
                let (ground, until) = claims.span(of: key, at: instant)
                return Entitlement(
                    id: name?.id ?? key,
                    feature: name?.feature ?? key,
                    lookupKey: key,
                    until: until.map { Date(milliseconds: $0) },
                    ground: ground.map { EntitlementGround(rawValue: $0.rawValue) },
                    store: name?.store,
                    purchaseID: name?.purchaseID,
                    willRenew: isAsSaid ? name?.willRenew : nil,
                    offer: isAsSaid ? name?.offer : nil
                )
            }
            let intervals = claims.entitlements.values.joined()
            let nextEnd = intervals.compactMap(\.until).filter { $0 > instant }.min()
            return ClientState.EarlierAnswer(
                entitlements: active,
                at: claims.at,
                nextEnd: min(
                    ends,
                    nextEnd.map { now.addingTimeInterval(TimeInterval($0 - instant) / 1000) }
                        ?? .distantFuture
                )
            )
        }
    }

    /// Whether something was signed for this app, or for the only one that there is.
    private func isOurs(_ azp: String?) -> Bool { azp == nil || azp == publishableKey }

    private func verified<Claims: Decodable>(
        _ type: Claims.Type,
        _ token: String
    ) -> Claims? {
        guard let verifySignature, let token = JSONWebToken(compact: token),
            token.header.alg == "ES256", token.signature.count == 64,
            let keyID = token.header.kid, let key = keys[keyID]?.x963Representation,
            verifySignature(token.signingInput, token.signature, key)
        else { return nil }
        return try? APIJSON.decode(type, from: token.payload)
    }
}

extension API.SignedAnswer {
    /// Why a key is active at `instant`, and until when without a gap; `nil` for ever.
    fileprivate func span(
        of key: String,
        at instant: API.Milliseconds
    ) -> (ground: API.Ground?, until: API.Milliseconds?) {
        let intervals = entitlements[key] ?? []
        guard let first = intervals.first(where: { $0.contains(instant) }) else {
            return (nil, nil)
        }
        var until = first.until
        while let end = until, let next = intervals.first(where: { $0.contains(end) }) {
            until = next.until
        }
        return (first.ground, until)
    }
}
