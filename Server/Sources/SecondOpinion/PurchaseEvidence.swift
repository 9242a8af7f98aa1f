internal import Storage
internal import StrictJSON
internal import TollgateCore

/// Everything that the journal has about one purchase, in the words of whoever said it.
struct PurchaseEvidence: Sendable {
    let subject: RowKey
    /// The purchase, such as `app_store/production/com.example.app/2000000001`.
    private(set) var name: String?
    private(set) var environment: StoreEnvironment?
    /// Whether something is not kept any more, or cannot be read: then there is nothing to judge by.
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
    /// The newest grant, and the newest report of a free subscription.
    private var grant: (word: OurWord, at: Instant, row: Int64)?
    private var free: [(word: OurWord, at: Instant, row: Int64)] = []

    init(_ subject: RowKey, takingAll takesAll: Bool = false) {
        (self.subject, self.takesAll) = (subject, takesAll)
    }

    /// Whether nothing at all is known.
    var isEmpty: Bool { messages.isEmpty && !isUnjudged && grant == nil && free.isEmpty }

    // MARK: - Taking in

    mutating func add(_ row: EvidenceRow) throws {
        guard let body = row.body else {
            if row.kind == .command { return try add(ours: row) }
            // An answer that repeats what was known has none either; else it was erased.
            if row.kind != .fetched || messages.isEmpty { isUnjudged = true }
            return
        }
        let isAlone = body.first != UInt8(ascii: "{")
        guard isAlone ? takeTransaction(body, row) : takeObject(body, row) else { return }
        // A device claims what it shows in the same row, which invoice a refund is about was asked
        // for, and some objects do not say of which purchase they are.
        if isAlone || name == nil || (row.kind == .fetched && !stripe.returns.isEmpty) {
            try add(ours: row)
        }
    }

    /// - Returns: whether it is about this purchase.
    private mutating func takeTransaction(_ body: [UInt8], _ row: EvidenceRow) -> Bool {
        guard let words = AppStoreWords(signed: body, row: row.id) else {
            isUnjudged = true
            return true
        }
        return take(words, row)
    }

    private mutating func takeObject(_ body: [UInt8], _ row: EvidenceRow) -> Bool {
        guard let json = try? JSON(body) else {
            isUnjudged = true
            return true
        }
        guard let word = StripeWord(json, stated: row.stated, row: row.id) else {
            return take(AppStoreWords(json, stated: row.stated, row: row.id), row)
        }
        // A subscription says itself which one it is; of what is paid once only Stripe could tell.
        if word.name == "subscription" {
            let name = "stripe/\(word.environment.rawValue)/-/\(word.id)"
            guard isHere(name, row) else { return false }
        }
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
            case .grant where grant.map({ $0.at <= at }) ?? true: grant = (word, at, row.id)
            case .freeSubscription: free.append((word, at, row.id))
            case .paidBack(let object, let invoice): stripe.invoiceOfReturn[object] = invoice
            case .claim, .assignment: ownership.add(word, at: at)
            case .grant: break
            }
        }
    }

    // MARK: - The opinion

    /// The names, hashed, under which the stores know whoever holds it.
    var names: [RowKey] {
        appStore.periods.values.compactMap { $0.token.map { RowKey(appAccountToken: $0) } }
            + stripeNames
    }

    private var stripeNames: [RowKey] {
        stripe.customers.map { RowKey(stripeCustomer: $0) }
            + stripe.references.map { RowKey(clientReference: $0) }
            + stripe.appUserIDs.map { RowKey(appUserID: $0) }
    }

    /// What it gives, and to whom.
    ///
    /// - Parameter customers: who registered the `names`.
    func opinions(_ question: Question, customers: [RowKey: RowKey]) -> [Opinion] {
        var opinions: [Opinion] = []
        let isMoved = appStore.periods.values.contains(where: \.current.isMoved)
        opinions += AppStoreOpinion(evidence: appStore, question: question) {
            token,
            bought,
            epoch in
            let named = token.flatMap { customers[RowKey(appAccountToken: $0)] }
            var owners = ownership.owners(
                named: named.map { [$0] } ?? [],
                isNamed: token != nil,
                question.history.ownership(at: bought),
                since: epoch
            )
            // What was moved here keeps its owner, whom only the former purchase may know.
            owners.isOpen = isMoved
            return owners
        }.opinions()
        let named = Set(stripeNames.compactMap { customers[$0] })
        let owners = ownership.owners(named: named, isNamed: true)
        opinions += StripeOpinion(evidence: stripe, question: question, owners: owners).opinions()
        let said = free.filter { $0.at <= question.at }.max { $0.at < $1.at }
        if case .freeSubscription(let customer, let product, let isOn)? = said?.word, let said {
            let reason = Reason("the app reported it \(isOn ? "taken" : "removed") at", said.at)
            var opinion = Opinion(isOn ? .yes : .no, since: said.at, reason, [said.row])
            opinion.lookupKeys = question.catalog.product(id: product)?.entitlements ?? []
            opinion.owners = Owners(certain: [RowKey(of: customer)])
            // The app's word for it stands, whatever a receipt shows.
            return [opinion]
        }
        if case .grant(let customer, let key, let since, let until)? = grant?.word, let grant {
            let end = until ?? .distantFuture
            let isRunning = since <= question.at && question.at < end
            let reason = Reason("granted by staff or the app's backend, until", until)
            let begun = isRunning ? since : end
            var opinion = Opinion(isRunning ? .yes : .no, since: begun, reason, [grant.row])
            opinion.lookupKeys = [key]
            opinion.owners = Owners(certain: [RowKey(of: customer)])
            opinions.append(opinion)
        }
        return opinions
    }
}
