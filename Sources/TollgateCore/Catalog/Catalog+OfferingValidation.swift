extension Catalog {
    /// Problems of the offerings.
    var offeringProblems: [CatalogProblem] {
        var report = CatalogReport()
        for (index, offering) in offerings.enumerated() {
            let place: [CatalogProblem.Step] = [.key("offerings"), .index(index)]
            report.identifier(
                offering.id,
                at: place + [.key("id")],
                limit: 80,
                what: "an offering's id"
            )
            report.once(
                offering.id,
                in: "id",
                at: place + [.key("id")],
                "the offering ‘\(offering.id)’ is there twice; give one of them another id"
            )
            checkProducts(of: offering, at: place, into: &report)
            checkTexts(of: offering, at: place, into: &report)
        }
        return report.problems
    }

    private func checkProducts(
        of offering: Offering,
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        let here = place + [.key("products")]
        if offering.products.isEmpty {
            report.add(
                at: here,
                "the offering ‘\(offering.id)’ shows nothing; list at least one product"
            )
        }
        for (index, id) in offering.products.enumerated() {
            let here = here + [.index(index)]
            guard let product = product(id: id) else {
                report.add(
                    at: here,
                    "there is no product ‘\(id)’; name the id of one under ‘products’"
                )
                continue
            }
            if product.isRetired {
                report.add(at: here, "‘\(id)’ is retired; list products that are sold")
            }
            if product.kind == .freeSubscription {
                report.add(at: here, "‘\(id)’ has no price; list products that are sold")
            }
            if offering.products[..<index].contains(id) {
                report.add(at: here, "‘\(id)’ is listed twice; remove one of them")
            }
        }
    }

    private func checkTexts(
        of offering: Offering,
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        for (language, text) in offering.texts.sorted(by: { $0.key < $1.key }) {
            let here = place + [.key("texts"), .key(language)]
            if !isLanguage(language) {
                report.add(
                    at: here,
                    "‘\(language)’ is no language; write one like en, ja, pt-BR or zh-Hans"
                )
            }
            report.name(text.title, at: here + [.key("title")])
            for (key, words, limit) in [
                ("title", text.title, 200), ("body", text.body ?? "", 2000),
            ]
            where words.utf8.count > limit {
                report.add(at: here + [.key(key)], "this has at most \(limit) bytes; shorten it")
            }
        }
    }

    /// A language with an optional script and region, as BCP 47 writes them.
    private func isLanguage(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count <= 3, let first = parts.first, (2...3).contains(first.count),
            first.allSatisfy(isASCIILower)
        else { return false }
        return parts.dropFirst().allSatisfy {
            (2...4).contains($0.count)
                && $0.allSatisfy { $0 != UInt8(ascii: ".") && isIdentifierByte($0) }
        }
    }

    /// Problems of the placements.
    var placementProblems: [CatalogProblem] {
        var report = CatalogReport()
        for (index, placement) in placements.enumerated() {
            let place: [CatalogProblem.Step] = [.key("placements"), .index(index)]
            report.identifier(
                placement.id,
                at: place + [.key("id")],
                limit: 80,
                what: "a placement's id"
            )
            report.once(
                placement.id,
                in: "id",
                at: place + [.key("id")],
                "the placement ‘\(placement.id)’ is there twice; give one of them another id"
            )
            check(placement.variants, at: place + [.key("variants")], into: &report)
        }
        return report.problems
    }

    private func check(
        _ variants: [Placement.Variant],
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        var areSound = true
        for (index, variant) in variants.enumerated() {
            let here = place + [.index(index)]
            if offering(id: variant.offering) == nil {
                report.add(
                    at: here + [.key("offering")],
                    "there is no offering ‘\(variant.offering)’; name the id of one under ‘offerings’"
                )
            }
            if variants[..<index].contains(where: { $0.offering == variant.offering }) {
                report.add(
                    at: here + [.key("offering")],
                    "‘\(variant.offering)’ is listed twice; add its shares together"
                )
            }
            if !(1...100).contains(variant.percent) {
                areSound = false
                report.add(
                    at: here + [.key("percent")],
                    "a share is a whole number from 1 to 100; remove variants that nobody should see"
                )
            }
        }
        let sum = areSound ? variants.reduce(0) { $0 + $1.percent } : 100
        if sum != 100 {
            report.add(
                at: place,
                "the shares add up to \(sum); change them until they are 100 together"
            )
        }
    }
}
