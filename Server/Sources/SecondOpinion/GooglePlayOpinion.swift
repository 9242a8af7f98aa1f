internal import StrictJSON
internal import TollgateCore

/// All that Google Play answered about one purchase token.
struct GooglePlayEvidence: Sendable {
    typealias Read = (json: JSON, state: String, stated: Instant, row: Int64)

    private(set) var reads: [Read] = []
    /// Of an entry of the voided list, by order and time, the quantity; `nil`: the rest.
    private(set) var voids: [String: (quantity: Int64?, at: Instant)] = [:]
    /// The account that the app named: its customer's token, if it is a UUID.
    private(set) var account: String?
    private(set) var former: [(id: String, since: Instant)] = []
    /// The times at which Google could not be asked.
    private(set) var unasked: [Instant] = []

    /// - Returns: whether it is an object of Google Play's; hints and orders decide nothing.
    mutating func add(_ json: JSON, stated: Instant, row: Int64) -> Bool {
        if let time = json.date("voidedTimeMillis") {
            let entry = "\(json["orderId"]?.string ?? "") \(time.milliseconds)"
            voids[entry] = (json["voidedQuantity"]?.integer, time)
            return true
        }
        let told = json["purchaseStateContext"]?["purchaseState"] ?? json["subscriptionState"]
        if json["tollgate_outage"] != nil { unasked.append(stated) }
        guard let word = told?.string else { return json["purchaseToken"] != nil }
        let state = word.replacing("SUBSCRIPTION_STATE_", with: "")
        reads.append((json, state, stated, row))
        let elsewhere = json["outOfAppPurchaseContext"]
        let former = elsewhere?["expiredExternalAccountIdentifiers"]
        for names in [former, json["externalAccountIdentifiers"], json] {
            let name = names?["obfuscatedExternalAccountId"]?.string
            if let name, name.split(separator: "-").count == 5 { account = name.lowercased() }
        }
        let token = json["linkedPurchaseToken"] ?? elsewhere?["expiredPurchaseToken"]
        // What is not paid yet takes no place; a deferred change may state no start.
        if let token = token?.string, !state.hasPrefix("PENDING") {
            self.former = [(token, json["startTime"]?.time ?? self.former.first?.since ?? stated)]
        }
        return true
    }
}

/// What Google Play's documentation says of a purchase at one instant.
///
/// - `ACTIVE`, `IN_GRACE_PERIOD` and `CANCELED` entitle to each item until its `expiryTime`, other
///   states to nothing; nothing follows `EXPIRED`. An item without `expiryTime` is not owned yet.
///   A declined renewal is silent for a day or two (…/google/play/billing/lifecycle/subscriptions).
/// - The read that was sent last holds. What is bought once is owned until all of it was voided.
struct GooglePlayOpinion {
    let evidence: GooglePlayEvidence
    let question: Question
    let app: String?
    /// The holder of a purchase that bears an account, or none, since an instant.
    let owners: (_ account: String?, _ start: Instant) -> Owners

    private typealias Read = GooglePlayEvidence.Read

    func opinions() -> [Opinion] {
        let said = evidence.reads.filter { $0.stated <= question.said }
        let final = said.first { ["EXPIRED", "CANCELLED"].contains($0.state) }
        guard let read = final ?? said.max(by: { $0.stated < $1.stated }) else { return [] }
        let begin = read.json["startTime"] ?? read.json["purchaseCompletionTime"]
        let start = begin?.time ?? read.stated
        // What was said later leaves open what was so at the instant; so do two words of one instant.
        let open = said.count < evidence.reads.count || said.count { $0.stated == read.stated } > 1
        let items = read.json["productLineItem"] ?? read.json["lineItems"]
        return (items.map { Array($0.elements) } ?? []).compactMap { item in
            let offer = item["productOfferDetails"] ?? item["offerDetails"]
            let plan = (offer?["purchaseOptionId"] ?? offer?["basePlanId"])?.string
            let name = StoreProduct(googlePlay: item["productId"]?.string ?? "", plan: plan)
            let product = question.history.product(name, in: app, at: start)
            var opinion = bought(Pass(product, paid: start...start), offer, read)
            if read.json["lineItems"] != nil { opinion = subscribed(item, read, since: start) }
            if open { opinion?.verdict = .open }
            let keys = question.catalog.lookupKeys(of: name, in: app)
            return opinion?.about(keys, owners(evidence.account, start))
        }
    }

    private func subscribed(_ item: JSON, _ read: Read, since start: Instant) -> Opinion? {
        guard let expiry = item["expiryTime"]?.time else { return nil }
        var until = expiry
        switch read.state {
        case "ACTIVE", "IN_GRACE_PERIOD", "CANCELED":
            let isReplaced = read.json["canceledStateContext"]?["replacementCancellation"] != nil
            if start <= question.at && question.at < expiry && !isReplaced {
                return Opinion(.yes, since: start, "\(read.state) until \(expiry)", [read.row])
            }
            let installments = item["autoRenewingPlan"]?["installmentDetails"]
            let left = installments?["remainingCommittedPaymentsCount"]?.integer ?? 0
            let isLast = left == 0 && installments?["pendingCancellation"] != nil
            if read.state != "CANCELED", item["prepaidPlan"] == nil, !isLast {
                let unasked = evidence.unasked.filter { $0 <= question.said }.max() ?? expiry
                until = max(expiry, read.stated, min(unasked, expiry.advanced(by: 7 * 86_400_000)))
                    .advanced(by: question.catalog.renewalLeeway.googlePlay)
            }
        case "EXPIRED", "ON_HOLD", "PAUSED": until = min(expiry, read.stated)
        case "PENDING", "PENDING_PURCHASE_CANCELED": until = .distantPast
        default: return Opinion(.open, since: start, "it is \(read.state)", [read.row])
        }
        let verdict = until <= question.at ? Verdict.no : .open
        let reason = "\(read.state), paid until \(expiry)"
        return Opinion(verdict, since: max(until, start), reason, [read.row])
    }

    private func bought(_ pass: Pass?, _ offer: JSON?, _ read: Read) -> Opinion? {
        guard var pass, read.state != "PENDING" else { return nil }
        pass.quantity = offer?["quantity"]?.integer ?? 1
        let voids = evidence.voids.values.filter { $0.at <= question.at }
        let taken = voids.reduce(0) { $0 + ($1.quantity ?? pass.quantity) }
        if taken >= pass.quantity { pass.cut = voids.map(\.at).max() }
        if read.state == "CANCELLED" { pass.cut = min(pass.cut ?? read.stated, read.stated) }
        // How long a rental lasts, only the catalog can say.
        let isRental = offer?["rentOfferDetails"] != nil && pass.duration == nil
        pass.isContested = taken > 0 || isRental || read.state != "PURCHASED"
        return pass.opinion(at: question.at, [read.row])
    }
}

extension JSON {
    /// A time of RFC 3339 in UTC.
    fileprivate var time: Instant? {
        let parts = (string ?? "").split { !$0.isNumber }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count >= 6 else { return nil }
        let days = CivilDay(year: numbers[0], month: numbers[1], day: numbers[2]).daysSince1970
        let seconds = ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
        let fraction = parts.count > 6 ? String(parts[6]) + "00" : "0"
        return Instant(seconds: seconds).advanced(by: Int64(fraction.prefix(3)) ?? 0)
    }
}
