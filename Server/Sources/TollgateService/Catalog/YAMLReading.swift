internal import Foundation
import TollgateCore
import Yams

/// A node of the YAML and the way to it.
package struct YAMLPlace {
    var node: Node
    var path: [CatalogProblem.Step]
}

/// One pass over a YAML tree: collects what is wrong, and remembers where every value stood so
/// that rules which know nothing of YAML can be reported with a line.
package struct YAMLReading {
    private var problems: [CatalogProblem] = []
    private var marks: [[CatalogProblem.Step]: Mark] = [:]
    /// Whether values are secrets, which no message repeats.
    private let hidesTexts: Bool

    package init(hidesTexts: Bool = false) {
        self.hidesTexts = hidesTexts
    }

    /// Everything wrong, in the order of the file: what this pass found, and of the `rules` those
    /// that are no mere consequence of it.
    func errors(file: String, alsoIn rules: [CatalogProblem]) -> [CatalogError] {
        let broken = Set(problems.map { Array($0.path.prefix(2)) })
        let brokenLists = Set(broken.compactMap(\.first))
        let independent = rules.filter { rule in
            let list: CatalogProblem.Step? =
                switch (rule.path.first, rule.path.dropFirst(2).first) {
                case (.key("products"), .key("entitlements")): .key("entitlements")
                case (.key("products"), .key("app_store_product_ids")): .key("apps")
                case (.key("buy_buttons"), .key("product")): .key("products")
                case (.key("offerings"), .key("products")): .key("products")
                case (.key("placements"), .key("variants")): .key("offerings")
                default: nil
                }
            return !broken.contains(Array(rule.path.prefix(2)))
                && !broken.contains(Array(rule.path.prefix(1)))
                && list.map { !brokenLists.contains($0) } ?? true
        }
        return (problems + independent).map { problem in
            let mark = mark(of: problem.path)
            return CatalogError(
                file: file,
                line: mark?.line ?? 1,
                column: mark?.column ?? 1,
                message: problem.message
            )
        }
        .sorted { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) }
    }

    /// Everything that this pass found wrong, in the order of the file.
    package func errors(file: String) -> [CatalogError] { errors(file: file, alsoIn: []) }

    /// Where the value is, or where it is missing.
    private func mark(of path: [CatalogProblem.Step]) -> Mark? {
        for length in (0...path.count).reversed() {
            if let mark = marks[Array(path.prefix(length))] { return mark }
        }
        return nil
    }

    private mutating func note(_ place: YAMLPlace) {
        if let mark = place.node.mark { marks[place.path] = mark }
    }

    package mutating func report(_ place: YAMLPlace, _ message: String) {
        note(place)
        problems.append(CatalogProblem(path: place.path, message: message))
    }

    // MARK: - Shapes

    /// The values of a mapping by key; `what` is the thing it describes.
    package mutating func mapping(_ place: YAMLPlace, _ what: String, keys: [String]) -> Fields {
        note(place)
        guard case .mapping(let mapping) = place.node else {
            report(place, "\(what) is a block of keys and values")
            return Fields(place: place, what: what, values: [:])
        }
        var values: [String: YAMLPlace] = [:]
        for (keyNode, value) in mapping {
            guard let key = keyNode.scalar?.string else {
                report(
                    YAMLPlace(node: keyNode, path: place.path + [.key("?")]),
                    "a key is a word; this is a list or a block"
                )
                continue
            }
            let path = place.path + [.key(key)]
            guard keys.contains(key) else {
                let advice = NearMiss.advice(key, among: keys)
                report(
                    YAMLPlace(node: keyNode, path: path),
                    mayBeSecret(key)
                        ? "\(what) has no such key; \(advice)"
                        : "\(what) has no key ‘\(key)’; \(advice)"
                )
                continue
            }
            values[key] = YAMLPlace(node: value, path: path)
        }
        return Fields(place: place, what: what, values: values)
    }

    /// Tells if a secret may stand where a key should: keys are short, and without digits.
    private func mayBeSecret(_ key: String) -> Bool {
        hidesTexts && (key.count > 40 || key.contains(where: \.isNumber))
    }

    /// The elements of a list; a missing list is an empty one.
    package mutating func list(_ fields: Fields, _ key: String) -> [YAMLPlace] {
        guard let place = fields.values[key] else { return [] }
        note(place)
        guard case .sequence(let sequence) = place.node else {
            report(place, "‘\(key)’ is a list; begin each element with a hyphen")
            return []
        }
        return sequence.enumerated().map { index, node in
            YAMLPlace(node: node, path: place.path + [.index(index)])
        }
    }

    // MARK: - Scalars

    /// Reads one scalar, or reports that it should be `shape`.
    ///
    /// Nil if it is missing or wrong.
    mutating func scalar<Value>(
        _ place: YAMLPlace?,
        shape: String,
        _ read: (Node.Scalar) -> Value?
    ) -> Value? {
        guard let place else { return nil }
        note(place)
        guard case .scalar(let scalar) = place.node, !scalar.isNothing else {
            report(place, "\(place.label) is \(shape); write one, or remove the key")
            return nil
        }
        guard let value = read(scalar) else {
            let text = scalar.string.prefix(60)
            report(place, hidesTexts ? "this is not \(shape)" : "‘\(text)’ is not \(shape)")
            return nil
        }
        return value
    }

    /// The same of a text.
    package mutating func value<Value>(
        _ fields: Fields,
        _ key: String,
        shape: String,
        _ read: (String) -> Value?
    ) -> Value? {
        scalar(fields.values[key], shape: shape) { read($0.string) }
    }

    package mutating func text(_ place: YAMLPlace?) -> String? {
        scalar(place, shape: "a text", \.string)
    }

    package mutating func text(_ fields: Fields, _ key: String) -> String? {
        text(fields.values[key])
    }

    mutating func texts(_ fields: Fields, _ key: String) -> [String] {
        // An element that cannot be read keeps its place, so that the others keep their index.
        list(fields, key).map { text($0) ?? "" }
    }

    /// A text that must be there.
    package mutating func required(_ fields: Fields, _ key: String) -> String {
        if fields.values[key] == nil, fields.isMapping {
            report(fields.place, "\(fields.what) has no ‘\(key)’; add it")
        }
        return text(fields, key) ?? ""
    }

    mutating func wholeNumber<Number: FixedWidthInteger>(
        _ fields: Fields,
        _ key: String
    ) -> Number? {
        scalar(fields.values[key], shape: "a whole number, like 100") { scalar in
            scalar.style == .plain ? Number(scalar.string) : nil
        }
    }

    mutating func wholeNumbers(_ fields: Fields, _ key: String) -> [Int] {
        // As in `texts`; what cannot be read is reported already.
        list(fields, key).map { place in
            scalar(place, shape: "a whole number, like 16") { scalar in
                scalar.style == .plain ? Int(scalar.string) : nil
            } ?? 1
        }
    }

    mutating func truth(_ fields: Fields, _ key: String) -> Bool? {
        scalar(fields.values[key], shape: "true or false") { Bool($0.string) }
    }

    mutating func duration(_ fields: Fields, _ key: String) -> CalendarDuration? {
        value(fields, key, shape: "a duration; write it like P1W, P30D, P1M or P1Y") {
            CalendarDuration(iso8601: $0)
        }
    }

    /// A day, from midnight UTC, or an instant.
    mutating func instant(_ fields: Fields, _ key: String) -> Instant? {
        scalar(
            fields.values[key],
            shape: "a day like 2026-05-31, or an instant like 2026-05-31T18:00:00Z"
        ) { scalar in
            let midnight = "T00:00:00Z"
            let (text, day) = (scalar.string, String(scalar.string.prefix(10)))
            // 30 February would be read as a day in March.
            guard let begin = try? Date(day + midnight, strategy: .iso8601),
                begin.formatted(.iso8601.year().month().day()) == day,
                let date = try? Date(text == day ? day + midnight : text, strategy: .iso8601)
            else { return nil }
            return Instant(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
        }
    }

    /// A length of time in milliseconds, written like `2h`.
    mutating func span(_ fields: Fields, _ key: String) -> Int64? {
        scalar(fields.values[key], shape: "a length of time; write it like 90s, 30m, 2h or 3d") {
            let units: [Character: Int64] = [
                "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
            ]
            guard let unit = $0.string.last.flatMap({ units[$0] }),
                let count = Int64($0.string.dropLast()), count >= 0
            else { return nil }
            let (span, overflow) = count.multipliedReportingOverflow(by: unit)
            return overflow ? nil : span
        }
    }

    /// One of the words of a closed set.
    package mutating func word<Word>(
        _ fields: Fields,
        _ key: String,
        _: Word.Type
    ) -> Word? where Word: RawRepresentable<String> & CaseIterable {
        guard let place = fields.values[key], let text = text(place) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let advice = NearMiss.advice(text, among: Word.allCases.map(\.rawValue))
        report(place, "‘\(text.prefix(60))’ is no \(place.label); \(advice)")
        return nil
    }
}

/// The values of one mapping.
package struct Fields {
    var place: YAMLPlace
    /// The thing described, as a sentence names it: "the product ‘pro_monthly’".
    var what: String
    package var values: [String: YAMLPlace]

    var isMapping: Bool { place.node.mapping != nil }
}

extension YAMLPlace {
    /// How a sentence names the value.
    fileprivate var label: String {
        switch path.last {
        case .key(let key): "‘\(key)’"
        case .index(let index): "element \(index + 1) of this list"
        case nil: "the catalog"
        }
    }
}

extension Node.Scalar {
    /// A key with nothing behind it, or `null` written out.
    fileprivate var isNothing: Bool {
        style == .plain && ["", "~", "null", "Null", "NULL"].contains(string)
    }
}
