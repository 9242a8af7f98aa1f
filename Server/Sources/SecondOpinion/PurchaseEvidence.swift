internal import Storage
internal import StrictJSON
internal import TollgateCore

/// Everything that the journal has about one purchase, in the words of whoever said it.
struct PurchaseEvidence: Sendable {
    let subject: RowKey
    /// The purchase, such as `app_store/production/com.example.app/2000000001`.
    private(set) var name: String?
    /// Whether something is not kept any more, or cannot be read: then nobody is let in by nothing.
    private(set) var isUnjudged = false
    /// The purchases that this one replaced, and when.
    private(set) var replaced: [(subject: RowKey, since: Instant)] = []
    /// Rows that are about another purchase than the one they are filed under.
    private(set) var misfiled: [(subject: RowKey, row: Int64)] = []
    /// The stores' own ids of messages, by row.
    private(set) var messages: [Int64: String] = [:]

    /// Whether rows are taken in that are filed elsewhere.
    private let takesAll: Bool
    private var appStore = AppStoreEvidence()
    private var stripe = StripeEvidence()
    private var ownership = Ownership()
    /// Grants, and reports of free subscriptions.
    private var given: [Given] = []
    private typealias Given = (word: OurWord, at: Instant, row: Int64)

    init(_ subject: RowKey, takingAll takesAll: Bool = false) {
        (self.subject, self.takesAll) = (subject, takesAll)
    }

    var environment: StoreEnvironment? {
        name.flatMap { StoreEnvironment(rawValue: String($0.split(separator: "/")[1])) }
    }

    /// Whether nothing at all is known.
    var isEmpty: Bool { messages.isEmpty && !isUnjudged && given.isEmpty }

    mutating func add(_ row: EvidenceRow) throws {
        guard let body = row.body else {
            if row.kind == .command { return try add(ours: row) }
            // An answer that repeats what was known has none either; else it was erased.
            if row.kind != .fetched || messages.isEmpty { isUnjudged = true }
            return
        }
        let isAlone = body.first != UInt8(ascii: "{")
        guard take(body, isAlone: isAlone, row) else { return }
        // A device claims what it shows in the same row; some objects do not name their purchase.
        if isAlone || name == nil || (row.kind == .fetched && !stripe.returns.isEmpty) {
            try add(ours: row)
        }
    }

    /// - Returns: whether it is about this purchase.
    private mutating func take(_ body: [UInt8], isAlone: Bool, _ row: EvidenceRow) -> Bool {
        guard let json = isAlone ? JSON(signed: body) : try? JSON(body) else {
            isUnjudged = true
            return true
        }
        // Google Play's reads are not judged yet.
        let play = ["lineItems", "productLineItem", "purchaseToken"].first { json[$0] != nil }
        isUnjudged = isUnjudged || play != nil
        let word = StripeWord(json, stated: row.stated, row: row.id)
        let words = AppStoreWords(json, stated: row.stated, row: row.id)
        if let name = word?.purchase ?? words.transaction?.purchase, !isHere(name, row) {
            return false
        }
        messages[row.id] = word?.messageID ?? words.messageID ?? ""
        if let word { stripe.add(word) } else { appStore.add(words) }
        // What came over from another purchase keeps its owner, whom only that one may know.
        guard let new = words.transaction, let former = new.replaced else { return true }
        (isUnjudged, replaced) = (true, replaced + [(RowKey(purchaseNamed: former), new.purchased)])
        return true
    }

    /// Whether the purchase of this name is the one that is looked at.
    private mutating func isHere(_ name: String, _ row: EvidenceRow) -> Bool {
        if name == self.name { return true }
        let own = RowKey(purchaseNamed: name)
        guard takesAll || own == subject else {
            misfiled.append((own, row.id))
            return false
        }
        self.name = name
        return true
    }

    private mutating func add(ours row: EvidenceRow) throws {
        let ours = try row.ours()
        name = name ?? ours.purchase
        for (word, at) in ours.words {
            switch word {
            case .grant, .freeSubscription: given.append((word, at, row.id))
            case .paidBack(let object, let invoice): stripe.invoiceOfReturn[object] = invoice
            case .claim, .assignment: ownership.add(word, at: at)
            }
        }
    }

    /// The names, hashed, under which the stores know whoever holds it.
    var names: [RowKey] {
        let tokens = appStore.periods.values.compactMap(\.token)
        return tokens.map { RowKey(appAccountToken: $0) } + stripe.names
    }

    /// What it gives, and to whom.
    ///
    /// - Parameter customers: who registered the `names`.
    func opinions(_ question: Question, customers: [RowKey: RowKey]) -> [Opinion] {
        if let last = given.filter({ $0.at <= question.at }).max(by: { $0.at < $1.at }) {
            // Our own word for it stands, whatever a receipt shows.
            return [Self.opinion(last, question)].compactMap(\.self)
        }
        func known(_ names: [RowKey]) -> Set<RowKey> { Set(names.compactMap { customers[$0] }) }
        func owners(_ token: String?, since epoch: Instant) -> Owners {
            let named = token.map { known([RowKey(appAccountToken: $0)]) }
            return ownership.owners(
                named: named,
                question.history.ownership(at: epoch),
                since: epoch
            )
        }
        let buyers = ownership.owners(named: known(Array(stripe.names)))
        return AppStoreOpinion(evidence: appStore, question: question, owners: owners).opinions()
            + StripeOpinion(evidence: stripe, question: question, owners: buyers).opinions()
    }

    private static func opinion(_ given: Given, _ question: Question) -> Opinion? {
        switch given.word {
        case .freeSubscription(let customer, let product, let isOn):
            let reason = "the app reported that it was taken or removed"
            return Opinion(isOn ? .yes : .no, since: given.at, reason, [given.row]).about(
                question.catalog.product(id: product)?.entitlements ?? [],
                Owners(certain: [RowKey(of: customer)])
            )
        case .grant(let customer, let key, let begin, let until):
            let end = until ?? .distantFuture
            let isOn = begin <= question.at && question.at < end
            let reason =
                "granted by staff or the app's backend, until \(until?.description ?? "ever")"
            return Opinion(isOn ? .yes : .no, since: isOn ? begin : end, reason, [given.row])
                .about([key], Owners(certain: [RowKey(of: customer)]))
        case .claim, .assignment, .paidBack: return nil
        }
    }
}
