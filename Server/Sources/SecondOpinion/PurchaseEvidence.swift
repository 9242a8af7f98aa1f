internal import Storage
internal import StrictJSON
internal import TollgateCore

/// Everything that the journal has about one purchase, in the words of whoever said it.
struct PurchaseEvidence: Sendable {
    let subject: RowKey
    /// The purchase, such as `app_store/production/com.example.app/2000000001`.
    private(set) var name: String?
    private(set) var environment: StoreEnvironment?
    /// Whether something is not kept any more, or cannot be read: then nobody is let in by nothing.
    private(set) var isUnjudged = false
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
        // A device claims what it shows in the same row, which invoice a refund is about was asked
        // for, and some objects do not say of which purchase they are.
        if isAlone || name == nil || (row.kind == .fetched && !stripe.returns.isEmpty) {
            try add(ours: row)
        }
    }

    /// - Returns: whether it is about this purchase.
    private mutating func take(_ body: [UInt8], isAlone: Bool, _ row: EvidenceRow) -> Bool {
        if isAlone, let words = AppStoreWords(signed: body, row: row.id) { return take(words, row) }
        guard !isAlone, let json = try? JSON(body) else {
            isUnjudged = true
            return true
        }
        guard let word = StripeWord(json, stated: row.stated, row: row.id) else {
            return take(AppStoreWords(json, stated: row.stated, row: row.id), row)
        }
        // A subscription says itself which one it is; of what is paid once only Stripe could tell.
        let subscription = "stripe/\(word.environment.rawValue)/-/\(word.id)"
        if word.name == "subscription", !isHere(subscription, row) { return false }
        environment = environment ?? word.environment
        messages[row.id] = word.messageID ?? ""
        stripe.add(word)
        return true
    }

    private mutating func take(_ words: AppStoreWords, _ row: EvidenceRow) -> Bool {
        if let name = words.transaction?.purchase {
            guard isHere(name, row) else { return false }
            let isProduction = name.hasPrefix("app_store/production/")
            environment = isProduction ? .production : .sandbox
        }
        // What came over from another purchase keeps its owner, whom only that one may know.
        isUnjudged = isUnjudged || words.transaction?.isMoved == true
        messages[row.id] = words.messageID ?? ""
        appStore.add(words)
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
        environment = environment ?? ours.environment
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
            return [Self.opinion(last, question)]
        }
        func owners(_ token: String?, _ bought: Instant, _ epoch: Instant) -> Owners {
            let named = token.flatMap { customers[RowKey(appAccountToken: $0)] }
            let policy = question.history.ownership(at: bought)
            return ownership.owners(
                named: Set([named].compactMap(\.self)),
                isNamed: token != nil,
                policy,
                since: epoch
            )
        }
        let named = Set(stripe.names.compactMap { customers[$0] })
        let buyers = ownership.owners(named: named, isNamed: true)
        return AppStoreOpinion(evidence: appStore, question: question, owners: owners).opinions()
            + StripeOpinion(evidence: stripe, question: question, owners: buyers).opinions()
    }

    private static func opinion(_ given: Given, _ question: Question) -> Opinion {
        var (isOn, since) = (false, given.at)
        var reason = "the app reported that it was taken or removed"
        var (customer, keys) = (Customer.ID(""), [String]())
        switch given.word {
        case .freeSubscription(let person, let product, let isTaken):
            (customer, isOn) = (person, isTaken)
            keys = question.catalog.product(id: product)?.entitlements ?? []
        case .grant(let person, let key, let begin, let until):
            let end = until ?? .distantFuture
            (customer, keys, isOn) = (person, [key], begin <= question.at && question.at < end)
            since = isOn ? begin : end
            reason = "granted by staff or the app's backend" + (until.map { ", until \($0)" } ?? "")
        case .claim, .assignment, .paidBack: break
        }
        return Opinion(isOn ? .yes : .no, since: since, reason, [given.row])
            .about(keys, Owners(certain: [RowKey(of: customer)]))
    }
}
