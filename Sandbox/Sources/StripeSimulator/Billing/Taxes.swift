// Taxes by the rates that stand on lines, or else on their invoice.
// https://docs.stripe.com/billing/taxes/tax-rates

/// One rate's part of an amount.
struct TaxShare: Hashable, Sendable {
    var rate: JSON
    /// Minor units.
    var amount: Int
    /// What it is reckoned from.
    var base: Int

    var isInclusive: Bool { rate["inclusive"].bool == true }

    /// What each rate takes of an amount, which holds the inclusive ones already.
    static func of(_ amount: Int, rates: [JSON]) -> [TaxShare] {
        func percentage(_ rate: JSON) -> Double { rate["percentage"].number ?? 0 }
        let inclusive = rates.filter { $0["inclusive"].bool == true }
        let held = inclusive.map(percentage).reduce(0, +)
        let contained = inclusive.map { rate in
            Int((Double(amount) * percentage(rate) / (100 + held)).rounded())
        }
        let base = amount - contained.reduce(0, +)
        var rest = contained[...]
        return rates.map { rate in
            if rate["inclusive"].bool == true {
                return TaxShare(rate: rate, amount: rest.popFirst() ?? 0, base: base)
            }
            let added = (Double(base) * percentage(rate) / 100).rounded()
            return TaxShare(rate: rate, amount: Int(added), base: base)
        }
    }

    /// What comes on top of an amount.
    static func added(to amount: Int, rates: [JSON]) -> Int {
        of(amount, rates: rates).filter { !$0.isInclusive }.map(\.amount).reduce(0, +)
    }

    /// As lines and totals of invoices and credit notes show it.
    func shown(reason: String = "not_available") -> JSON {
        [
            "amount": .int(amount), "tax_behavior": isInclusive ? "inclusive" : "exclusive",
            "tax_rate_details": ["tax_rate": rate["id"]], "taxability_reason": .string(reason),
            "taxable_amount": .int(base), "type": "tax_rate_details",
        ]
    }
}

extension Invoices {
    /// Adds up the taxes of an invoice, once its discounts are off.
    static func tax(_ invoice: inout JSON) {
        let exemption = invoice["customer_tax_exempt"].string ?? "none"
        let reasons = ["exempt": "customer_exempt", "reverse": "reverse_charge"]
        var lines = invoice["lines"].elements
        var totals: [TaxShare] = []
        var contained = 0
        for index in lines.indices {
            let own = lines[index]["_tax_rates"].elements
            let rates = own.isEmpty ? invoice["default_tax_rates"].elements : own
            let off = lines[index]["discount_amounts"].elements.map { $0["amount"].count }
            let gross = lines[index]["amount"].count
            var shares = TaxShare.of(gross - off.reduce(0, +), rates: rates)
            if reasons[exemption] != nil {
                for index in shares.indices { shares[index].amount = 0 }
            } else {
                let whole = TaxShare.of(gross, rates: rates)
                contained += whole.filter(\.isInclusive).map(\.amount).reduce(0, +)
            }
            lines[index]["taxes"] = .array(
                shares.map { $0.shown(reason: reasons[exemption] ?? "not_available") }
            )
            for share in shares {
                if let known = totals.firstIndex(where: { $0.rate["id"] == share.rate["id"] }) {
                    totals[known].amount += share.amount
                    totals[known].base += share.base
                } else {
                    totals.append(share)
                }
            }
        }
        invoice["lines"]["data"] = .array(lines)
        let off = invoice["total_discount_amounts"].elements.map { $0["amount"].count }
        let added = totals.filter { !$0.isInclusive }.map(\.amount).reduce(0, +)
        let total = invoice["subtotal"].count - off.reduce(0, +) + added
        invoice["total_taxes"] = .array(
            totals.map { $0.shown(reason: reasons[exemption] ?? "not_available") }
        )
        invoice["subtotal_excluding_tax"] = .int(invoice["subtotal"].count - contained)
        invoice["total"] = .int(total)
        invoice["total_excluding_tax"] = .int(total - totals.map(\.amount).reduce(0, +))
    }
}
