/// One line of an invoice before it has an id.
struct InvoiceLine: Hashable, Sendable {
    var amount: Int
    var description: String
    var price: JSON
    var quantity: Int
    var start: Int
    var end: Int
    var subscription: String?
    var subscriptionItem: String?
    var invoiceItem: String?
    var isProration = false
    var metadata: JSON = [:]
    var prorationDetails: JSON = .null
    /// Its own rates; none: those of the invoice.
    var taxRates: [JSON] = []
    /// Which tier of a graduated price it is of, from 1.
    var tier: Int?

    /// "1 × Pro (at $9.99 / month)", as Stripe describes a line.
    static func description(_ quantity: Int, _ product: String, _ price: JSON) -> String {
        let amount = Money.words(Prices.amount(of: price, 1), price["currency"].text)
        let recurring = price["recurring"]
        guard !recurring.isNull else { return product }
        let count = recurring["interval_count"].count
        let interval = recurring["interval"].text
        let every = count > 1 ? "every \(count) \(interval)s" : "/ \(interval)"
        return "\(quantity) × \(product) (at \(amount) \(every))"
    }
}

/// Amounts in words, for descriptions and pages.
enum Money {
    private static let withoutMinorUnit: Set<String> = [
        "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf",
        "xof", "xpf",
    ]

    /// "9.99".
    static func figure(_ amount: Int, _ currency: String) -> String {
        let digits = String(amount)
        guard !withoutMinorUnit.contains(currency) else { return digits }
        let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        return padded.dropLast(2) + "." + padded.suffix(2)
    }

    /// The minor units of "9.99"; `nil`: it is no amount.
    static func minor(_ figure: String, _ currency: String) -> Int? {
        guard let amount = Double(figure.filter { $0 != "," && $0 != " " }), amount >= 0,
            amount < 1_000_000
        else { return nil }
        return Int((withoutMinorUnit.contains(currency) ? amount : amount * 100).rounded())
    }

    /// "$9.99", "9.99 CHF".
    static func words(_ amount: Int, _ currency: String) -> String {
        let sign = amount < 0 ? "−" : ""
        let figure = figure(abs(amount), currency)
        return switch currency {
        case "usd": "\(sign)$\(figure)"
        case "eur": "\(sign)€\(figure)"
        case "gbp": "\(sign)£\(figure)"
        case "jpy": "\(sign)¥\(figure)"
        default: "\(sign)\(figure) \(currency.uppercased())"
        }
    }
}

extension Invoices {
    static func lineObject(_ world: inout World, _ line: InvoiceLine, invoice: String) -> JSON {
        var parent: JSON
        if let item = line.subscriptionItem {
            parent = [
                "type": "subscription_item_details", "invoice_item_details": .null,
                "subscription_item_details": [
                    "invoice_item": JSON(line.invoiceItem), "proration": .bool(line.isProration),
                    "proration_details": line.prorationDetails,
                    "subscription": JSON(line.subscription), "subscription_item": .string(item),
                ],
            ]
        } else {
            parent = [
                "type": "invoice_item_details", "subscription_item_details": .null,
                "invoice_item_details": [
                    "invoice_item": JSON(line.invoiceItem), "proration": .bool(line.isProration),
                    "proration_details": line.prorationDetails,
                    "subscription": JSON(line.subscription),
                ],
            ]
            if line.invoiceItem == nil { parent["invoice_item_details"]["invoice_item"] = "" }
        }
        return .object(
            nulls: "",
            [
                "id": .string("il_" + world.random.token(24)), "object": "line_item",
                "amount": .int(line.amount), "subtotal": .int(line.amount),
                "currency": line.price["currency"], "description": .string(line.description),
                "discount_amounts": [], "discountable": .bool(!line.isProration), "discounts": [],
                "invoice": .string(invoice), "livemode": false, "metadata": line.metadata,
                "parent": parent,
                "period": ["start": .int(line.start), "end": .int(line.end)],
                "pretax_credit_amounts": [],
                "pricing": [
                    "type": "price_details",
                    "price_details": [
                        "price": line.price["id"],
                        "product": .string(line.price["product"].reference ?? ""),
                    ],
                    "unit_amount_decimal": line.price["unit_amount_decimal"],
                ],
                "quantity": .int(line.quantity),
                "quantity_decimal": .string(String(line.quantity)),
                "subscription": JSON(line.subscription), "taxes": [],
                "_tax_rates": .array(line.taxRates), "_tier": JSON(line.tier),
            ]
        )
    }
}
