internal import Storage
internal import StrictJSON
internal import TollgateCore

/// Everything that the journal has about one purchase, in the words of whoever said it.
struct PurchaseEvidence: Sendable {
    let subject: RowKey
    /// The purchase, such as `app_store/production/com.example.app/2000000001`.
    private(set) var name: String?
    /// `true`: it is not judged, because evidence is missing, unreadable or Xcode's.
    private(set) var isUnjudged = false
    /// Rows that are about another purchase than the one they are filed under.
    private(set) var misfiled: [(subject: RowKey, row: Int64)] = []
    /// The stores' own ids of messages, by row.
    private(set) var messages: [Int64: String] = [:]

    /// Whether rows are taken in that are filed elsewhere.
    private let takesAll: Bool
    private var appStore = AppStoreEvidence()
    private var googlePlay = GooglePlayEvidence()
    private var stripe = StripeEvidence()
    private(set) var ownership = Ownership()
    /// Grants, and reports of free subscriptions.
    private var given: [Given] = []
    private typealias Given = (word: OurWord, at: Instant, row: Int64)

    init(_ subject: RowKey, _ rows: [EvidenceRow], takingAll takesAll: Bool = false) throws {
        (self.subject, self.takesAll) = (subject, takesAll)
        for row in rows { try add(row) }
    }

    /// All that is filed under `subject`, and these rows, which are filed elsewhere.
    init(_ subject: RowKey, and strays: [Int64], _ reader: EvidenceReader) throws {
        let rows = try reader.rows(of: subject) + reader.rows(strays)
        try self.init(subject, rows.sorted { $0.id < $1.id }, takingAll: !strays.isEmpty)
    }

    var environment: StoreEnvironment? { place.flatMap { StoreEnvironment(rawValue: $0[1]) } }
    /// Store, environment and app.
    private var place: [String]? { name?.split(separator: "/").prefix(3).map(String.init) }
    var isEmpty: Bool { messages.isEmpty && !isUnjudged && given.isEmpty }

    /// The purchases that this one continues, and when each of them was replaced.
    var replaced: [(subject: RowKey, since: Instant)] {
        (appStore.former + googlePlay.former).map { id, since in
            (RowKey(purchaseNamed: ((place ?? []) + [id]).joined(separator: "/")), since)
        }
    }

    private mutating func add(_ row: EvidenceRow) throws {
        guard let body = row.body else {
            if row.kind == .command { return try add(ours: row) }
            // An answer that repeats what was known has none either; else it was erased.
            if row.kind != .fetched || messages.isEmpty { isUnjudged = true }
            return
        }
        let isAlone = body.first != UInt8(ascii: "{")
        guard take(body, isAlone: isAlone, row) else { return }
        // A device claims what it shows in the same row; some objects do not name their purchase.
        let isNameless = !stripe.returns.isEmpty || !googlePlay.reads.isEmpty
        if isAlone || name == nil || (row.kind == .fetched && isNameless) { try add(ours: row) }
    }

    /// - Returns: whether it is about this purchase.
    private mutating func take(_ body: [UInt8], isAlone: Bool, _ row: EvidenceRow) -> Bool {
        let json = isAlone ? JSON(signed: body) : try? JSON(body)
        guard let json, json["environment"]?.isString("Xcode") != true else {
            isUnjudged = true
            return true
        }
        if googlePlay.add(json, stated: row.stated, row: row.id) {
            messages[row.id] = json["orderId"]?.string ?? ""
        } else {
            let word = StripeWord(json, stated: row.stated, row: row.id)
            let words = AppStoreWords(json, stated: row.stated, row: row.id)
            let name = word?.purchase ?? words.transaction?.purchase
            if let name, !isHere(name, row) { return false }
            messages[row.id] = word?.messageID ?? words.messageID ?? ""
            if let word { stripe.add(word) } else { appStore.add(words) }
        }
        // What came over from another purchase keeps its owner, whom only that one may know.
        isUnjudged = isUnjudged || !appStore.former.isEmpty || !googlePlay.former.isEmpty
        return true
    }

    private mutating func isHere(_ name: String, _ row: EvidenceRow) -> Bool {
        let own = name == self.name ? subject : RowKey(purchaseNamed: name)
        let isHere = takesAll || own == subject
        if isHere { self.name = name } else { misfiled.append((own, row.id)) }
        return isHere
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
        let tokens =
            appStore.periods.values.compactMap(\.token) + [googlePlay.account].compactMap(\.self)
        return tokens.map { RowKey(appAccountToken: $0) } + stripe.names
    }

    /// What it gives, and to whom of the `customers` who registered the `names`.
    func opinions(_ question: Question, customers: [RowKey: RowKey]) -> [Opinion] {
        if let last = given.filter({ $0.at <= question.at }).max(by: { $0.at < $1.at }) {
            // Our own word for it stands, whatever a receipt shows.
            return Self.opinion(last, question).map { [$0] } ?? []
        }
        func known(_ names: [RowKey]) -> Set<RowKey> { Set(names.compactMap { customers[$0] }) }
        func owners(_ token: String?, since epoch: Instant) -> Owners {
            let named = token.map { known([RowKey(appAccountToken: $0)]) }
            let policy = question.history.ownership(at: epoch)
            let owners = ownership.owners(named: named, policy, since: epoch)
            // In Google Play only the purchase that this one continues may know who restored it.
            let isSure = googlePlay.former.isEmpty || (token != nil && policy == .keep)
            return isSure ? owners : Owners(possible: owners.possible)
        }
        let (app, buyers) = (place?.last, ownership.owners(named: known(Array(stripe.names))))
        return AppStoreOpinion(evidence: appStore, question: question, app: app, owners: owners)
            .opinions()
            + GooglePlayOpinion(evidence: googlePlay, question: question, app: app, owners: owners)
            .opinions()
            + StripeOpinion(evidence: stripe, question: question, owners: buyers).opinions()
    }

    private static func opinion(_ given: Given, _ question: Question) -> Opinion? {
        let (owner, keys, begin, end): (Customer.ID, [String], Instant, Instant)
        switch given.word {
        case .freeSubscription(let customer, let product, let isOn):
            (owner, keys) = (customer, question.catalog.product(id: product)?.entitlements ?? [])
            (begin, end) = (given.at, isOn ? .distantFuture : given.at)
        case .grant(let customer, let key, let since, let until):
            (owner, keys, begin, end) = (customer, [key], since, until ?? .distantFuture)
        case .claim, .assignment, .paidBack: return nil
        }
        let isOn = begin <= question.at && question.at < end
        let why = end == .distantFuture ? "given since \(begin)" : "given from \(begin) to \(end)"
        return Opinion(isOn ? .yes : .no, since: isOn ? begin : end, why, [given.row])
            .about(keys, Owners(certain: [RowKey(of: owner)]))
    }
}
