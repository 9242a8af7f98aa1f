// What a quantity of a price costs: per unit, in packages, or by tiers.
// https://docs.stripe.com/products-prices/pricing-models

extension Prices {
    /// Minor units.
    static func amount(of price: JSON, _ quantity: Int) -> Int {
        // What the payer chooses is proposed at most.
        if let preset = price["custom_unit_amount"]["preset"].int { return preset * quantity }
        if price["billing_scheme"].string == "tiered" {
            let tiers = price["_tiers"].elements
            return price["tiers_mode"].string == "volume"
                ? volume(tiers, quantity) : graduated(tiers, quantity)
        }
        return cost(price, "unit_amount", units(quantity, of: price["transform_quantity"]))
    }

    /// So many packages hold a quantity.
    private static func units(_ quantity: Int, of package: JSON) -> Int {
        guard let size = package["divide_by"].int, size > 0 else { return quantity }
        let whole = quantity / size
        return package["round"].string == "up" && quantity % size > 0 ? whole + 1 : whole
    }

    /// Each part of the quantity at the price of the tier in which it falls.
    private static func graduated(_ tiers: [JSON], _ quantity: Int) -> Int {
        parts(of: quantity, in: tiers).map(\.amount).reduce(0, +)
    }

    /// What of a quantity falls into which tier, and what it costs there; something always falls into
    /// the first one.
    private static func parts(
        of quantity: Int,
        in tiers: [JSON]
    ) -> [(tier: JSON, quantity: Int, amount: Int)] {
        var parts: [(tier: JSON, quantity: Int, amount: Int)] = []
        var below = 0
        for tier in tiers where quantity > below || below == 0 {
            let count = max(0, min(quantity, tier["up_to"].int ?? .max) - below)
            let amount = cost(tier, "unit_amount", count) + cost(tier, "flat_amount", 1)
            parts.append((tier, count, amount))
            below = max(below, tier["up_to"].int ?? .max)
        }
        return parts
    }

    /// A line for each tier in which a quantity of a graduated price falls; any other line as it is.
    ///
    /// What is not billed for a whole period, or not in full, has one line: "Remaining time on …".
    static func tierLines(_ world: World, _ line: InvoiceLine) -> [InvoiceLine] {
        let price = line.price
        guard price["tiers_mode"].string == "graduated", line.subscriptionItem != nil,
            !line.isProration, line.amount == amount(of: price, line.quantity)
        else { return [line] }
        let parts = Self.parts(of: line.quantity, in: price["_tiers"].elements)
        return parts.enumerated().map { index, part in
            var split = line
            (split.quantity, split.amount, split.tier) = (part.quantity, part.amount, index + 1)
            let each = Money.words(cost(part.tier, "unit_amount", 1), price["currency"].text)
            split.description =
                "\(part.quantity) × \(Products.name(world, of: price)) (Tier \(index + 1) at \(each) / "
                + "\(price["recurring"]["interval"].text))"
            return split
        }
    }

    /// All of the quantity at the price of the tier in which it ends.
    private static func volume(_ tiers: [JSON], _ quantity: Int) -> Int {
        let tier = tiers.first { $0["up_to"].int.map { quantity <= $0 } ?? true } ?? .null
        return cost(tier, "unit_amount", quantity) + cost(tier, "flat_amount", 1)
    }

    /// An amount that stands in whole minor units, or else in parts of them.
    private static func cost(_ holder: JSON, _ name: String, _ count: Int) -> Int {
        if let whole = holder[name].int { return whole * count }
        let exact = holder["\(name)_decimal"].string.flatMap(Double.init) ?? 0
        return Int((exact * Double(count)).rounded())
    }

    /// Reads `tiers`, from the lowest up.
    static func tiers(_ parameters: inout Parameters) throws -> [JSON]? {
        let param = parameters.name("tiers")
        var below = 0
        let tiers = try parameters.objects("tiers") { part -> JSON in
            var tier: JSON = .object(
                nulls: "flat_amount flat_amount_decimal unit_amount unit_amount_decimal",
                [:]
            )
            guard let top = try part.string("up_to") else {
                throw APIError.missing(parameter: part.name("up_to"))
            }
            if top != "inf" {
                guard let limit = Int(top), limit > below, limit < 1_000_000_000 else {
                    throw APIError.invalid(
                        "up_to must grow from tier to tier.",
                        param: part.name("up_to")
                    )
                }
                below = limit
            }
            tier["up_to"] = top == "inf" ? .null : .int(below)
            for name in ["flat_amount", "unit_amount"] {
                try amount(&part, name, into: &tier)
            }
            guard !tier["flat_amount_decimal"].isNull || !tier["unit_amount_decimal"].isNull else {
                throw APIError.missing(parameter: part.name("unit_amount"))
            }
            return tier
        }
        guard let tiers else { return nil }
        guard let last = tiers.last, last["up_to"].isNull,
            tiers.dropLast().allSatisfy({ !$0["up_to"].isNull })
        else {
            throw APIError.invalid("The last tier, and only it, must end at `inf`.", param: param)
        }
        return tiers
    }

    /// Reads an amount in whole minor units (`name`) or in parts of them (`name_decimal`).
    static func amount(
        _ parameters: inout Parameters,
        _ name: String,
        into object: inout JSON
    ) throws {
        let whole = try parameters.int(name, in: 0...99_999_999)
        let decimal = try parameters.string("\(name)_decimal")
        guard whole == nil || decimal == nil else {
            throw APIError.invalid(
                "You may only specify one of these parameters: \(name), \(name)_decimal.",
                param: parameters.name(name)
            )
        }
        if let whole {
            object[name] = .int(whole)
            object["\(name)_decimal"] = .string(String(whole))
        }
        guard let decimal else { return }
        guard let exact = Double(decimal), (0...99_999_999).contains(exact) else {
            throw APIError.invalid(
                "Invalid decimal: \(decimal)",
                param: parameters.name("\(name)_decimal")
            )
        }
        object[name] = Int(exactly: exact).map(JSON.int) ?? .null
        object["\(name)_decimal"] = .string(decimal)
    }
}
