/// Tax rates: those that somebody sets by hand; automatic tax is not played.
/// https://docs.stripe.com/api/tax_rates
enum TaxRates {
    static let routes: [Route] = [
        .post("tax_rates") { world, call in
            let name = try call.parameters.required("display_name", maximum: 50)
            guard let isInclusive = try call.parameters.bool("inclusive") else {
                throw APIError.missing(parameter: "inclusive")
            }
            guard let percentage = try call.parameters.decimal("percentage") else {
                throw APIError.missing(parameter: "percentage")
            }
            guard (0...100).contains(percentage) else {
                throw APIError.invalid("Invalid percentage.", param: "percentage")
            }
            var rate = world.blank(
                .taxRate,
                nulls: """
                    country description effective_percentage flat_amount jurisdiction \
                    jurisdiction_level state tax_type
                    """,
                [
                    "active": true, "display_name": .string(name), "inclusive": .bool(isInclusive),
                    "percentage": .double(percentage), "rate_type": "percentage",
                ]
            )
            try read(&call.parameters, into: &rate)
            return world.add(.taxRate, rate, event: "tax_rate.created")
        },
        .get("tax_rates") { world, call in
            let isActive = try call.parameters.bool("active")
            let isInclusive = try call.parameters.bool("inclusive")
            return try world.list(.taxRate, &call) { rate in
                (isActive.map { rate["active"].bool == $0 } ?? true)
                    && (isInclusive.map { rate["inclusive"].bool == $0 } ?? true)
            }
        },
        .get("tax_rates/:id") { world, call in try world.find(.taxRate, call.ids[0]) },
        .post("tax_rates/:id") { world, call in
            var rate = try world.find(.taxRate, call.ids[0])
            if let name = try call.parameters.string("display_name", maximum: 50) {
                rate["display_name"] = .string(name)
            }
            try read(&call.parameters, into: &rate)
            let changed = rate
            return world.change(.taxRate, call.ids[0], event: "tax_rate.updated") { $0 = changed }
        },
    ]

    private static func read(_ parameters: inout Parameters, into rate: inout JSON) throws {
        try parameters.patchBool(&rate, "active")
        try parameters.patch(
            &rate,
            "country",
            "description",
            "jurisdiction",
            "state",
            "tax_type"
        )
        try parameters.metadata(into: &rate)
    }

    /// Reads `tax_rates` or `default_tax_rates`: the rates that the ids name.
    ///
    /// - Returns: `nil` if none were sent; empty unsets them.
    static func read(
        _ world: World,
        _ parameters: inout Parameters,
        _ field: String
    ) throws -> [JSON]? {
        let name = parameters.name(field)
        return try parameters.strings(field)?.enumerated().map { index, id in
            let rate = try world.find(.taxRate, id, param: "\(name)[\(index)]")
            guard rate["active"].bool == true else {
                throw APIError.invalid(
                    "The tax rate \(id) is archived, and cannot be used for new purchases.",
                    param: "\(name)[\(index)]"
                )
            }
            return rate
        }
    }
}
