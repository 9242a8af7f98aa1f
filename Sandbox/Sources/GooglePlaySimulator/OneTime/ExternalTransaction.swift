/// A sale outside Play's billing that the developer reports.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/externaltransactions
struct ExternalTransaction: Hashable, Sendable, Codable {
    let id: String
    /// As it was reported, without tokens.
    var body: JSON
    let createdAt: Int64
    var preTax: Int64
    var tax: Int64
    var currency: String
    var isCanceled = false
    /// Refunds in part, by their ids.
    var refundIDs: [String] = []

    /// - Throws: where the report is not complete.
    init(id: String, body: JSON, at now: Int64, known: [String: ExternalTransaction])
        throws(APIError)
    {
        guard (1...63).contains(id.count),
            id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
        else { throw .invalid("The external transaction ID is not valid.") }
        guard known[id] == nil else {
            throw .conflict("An external transaction with this ID already exists.")
        }
        guard let amount = body["originalPreTaxAmount"], let taxAmount = body["originalTaxAmount"],
            let preTax = amount["priceMicros"]?.whole, let tax = taxAmount["priceMicros"]?.whole,
            let currency = amount["currency"]?.text, body["userTaxAddress"]?["regionCode"] != nil,
            (0...Catalog.highestPrice).contains(preTax), (0...Catalog.highestPrice).contains(tax),
            let time = body["transactionTime"]?.text, Timestamp.parse(time) != nil
        else {
            throw .invalid(
                "originalPreTaxAmount, originalTaxAmount, transactionTime and userTaxAddress are required."
            )
        }
        let oneTime = body["oneTimeTransaction"]
        let recurring = body["recurringTransaction"]
        guard (oneTime == nil) != (recurring == nil) else {
            throw .invalid(
                "Exactly one of oneTimeTransaction and recurringTransaction is required."
            )
        }
        if let initial = recurring?["initialExternalTransactionId"]?.text, known[initial] == nil {
            throw .notFound("The initial external transaction was not found.")
        }
        let isFirst = recurring?["initialExternalTransactionId"] == nil
        if isFirst, (oneTime ?? recurring)?["externalTransactionToken"] == nil {
            throw .invalid("The external transaction token is missing.")
        }
        self.id = id
        self.body = Self.withoutTokens(body)
        createdAt = now
        self.preTax = preTax
        self.tax = tax
        self.currency = currency
    }

    /// Tokens go in and never come out.
    private static func withoutTokens(_ body: JSON) -> JSON {
        guard case .object(var members) = body else { return body }
        for name in ["oneTimeTransaction", "recurringTransaction"] {
            guard case .object(var inner) = members[name] else { continue }
            inner["externalTransactionToken"] = nil
            inner["migratedTransactionProgram"] = nil
            members[name] = .object(inner)
        }
        return .object(members)
    }

    mutating func refund(_ request: JSON) throws(APIError) {
        guard !isCanceled else {
            throw .failedPrecondition("The external transaction was already refunded.")
        }
        guard request["refundTime"]?.text.flatMap(Timestamp.parse) != nil else {
            throw .invalid("refundTime is required.")
        }
        if request["fullRefund"] != nil {
            (preTax, tax, isCanceled) = (0, 0, true)
            return
        }
        guard let part = request["partialRefund"], let refundID = part["refundId"]?.text,
            let amount = part["refundPreTaxAmount"]?["priceMicros"]?.whole, amount > 0
        else { throw .invalid("fullRefund or partialRefund is required.") }
        guard !refundIDs.contains(refundID) else {
            throw .conflict("A refund with this ID already exists.")
        }
        guard amount <= preTax else {
            throw .invalid("The refund exceeds what is left of the transaction.")
        }
        refundIDs.append(refundID)
        if preTax > 0 { tax -= Int64(Double(tax) * Double(amount) / Double(preTax)) }
        preTax -= amount
    }

    func wire(package: String) -> JSON {
        guard case .object(var members) = body else { return body }
        func price(_ micros: Int64) -> JSON {
            ["priceMicros": .string("\(micros)"), "currency": .string(currency)]
        }
        members["packageName"] = .string(package)
        members["externalTransactionId"] = .string(id)
        members["createTime"] = .time(createdAt)
        members["transactionState"] =
            isCanceled ? "TRANSACTION_CANCELED" : "TRANSACTION_REPORTED"
        members["currentPreTaxAmount"] = price(preTax)
        members["currentTaxAmount"] = price(tax)
        return .object(members)
    }
}
