import TollgateCore
import Yams

extension YAMLReading {
    mutating func offering(_ place: YAMLPlace) -> Catalog.Offering {
        var fields = mapping(place, "an offering", keys: ["id", "products", "texts"])
        let id = required(fields, "id")
        if !id.isEmpty { fields.what = "the offering ‘\(id)’" }
        return Catalog.Offering(
            id: id,
            products: texts(fields, "products"),
            texts: fields.values["texts"].map { offeringTexts($0) } ?? [:]
        )
    }

    /// The words of an offering, by language.
    private mutating func offeringTexts(_ place: YAMLPlace) -> [String: Catalog.Offering.Text] {
        guard case .mapping(let mapping) = place.node else {
            report(place, "‘texts’ has a block for each language, like en: {title: Go Pro}")
            return [:]
        }
        let languages = Array(mapping.keys.compactMap { $0.scalar?.string })
        let fields = self.mapping(place, "‘texts’", keys: languages)
        var texts: [String: Catalog.Offering.Text] = [:]
        // In the order of the file, so that marks and problems are the same each time.
        for language in languages {
            guard let place = fields.values[language] else { continue }
            let fields = self.mapping(
                place,
                "the text in ‘\(language)’",
                keys: ["title", "body"]
            )
            texts[language] = Catalog.Offering.Text(
                title: required(fields, "title"),
                body: text(fields, "body")
            )
        }
        return texts
    }

    mutating func placement(_ place: YAMLPlace) -> Catalog.Placement {
        var fields = mapping(place, "a placement", keys: ["id", "variants"])
        let id = required(fields, "id")
        if !id.isEmpty { fields.what = "the placement ‘\(id)’" }
        return Catalog.Placement(
            id: id,
            variants: list(fields, "variants").map { variant($0) }
        )
    }

    private mutating func variant(_ place: YAMLPlace) -> Catalog.Placement.Variant {
        let fields = mapping(place, "a variant", keys: ["offering", "percent"])
        if fields.values["percent"] == nil, fields.isMapping {
            report(place, "a variant has no ‘percent’; add its share of the customers, like 50")
        }
        return Catalog.Placement.Variant(
            offering: required(fields, "offering"),
            percent: wholeNumber(fields, "percent") ?? 0
        )
    }
}
