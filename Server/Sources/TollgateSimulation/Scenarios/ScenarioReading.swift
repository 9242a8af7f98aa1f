import TollgateService
import Yams

/// A node of the YAML with its line.
struct ScenarioPlace {
    var node: Node

    var line: Int { node.mark?.line ?? 1 }
}

/// The values of one mapping; reading one takes it out, so that what is left is a mistake.
struct ScenarioFields {
    var place: ScenarioPlace
    /// The thing described, as a sentence names it.
    var what: String
    var values: [String: ScenarioPlace]
    /// Every key that was asked for, for advice about one that nobody asked for.
    var known: [String] = []
}

/// One pass over a file: collects what is wrong with it.
struct ScenarioReading {
    let file: String
    private(set) var errors: [ScenarioError] = []
    /// The instant of the step before, from which relative times count.
    var previous: Int64?
    var isPreviousExact = false

    init(file: String) {
        self.file = file
    }

    mutating func report(_ place: ScenarioPlace, _ message: String) {
        errors.append(ScenarioError(file: file, line: place.line, message: message))
    }

    // MARK: - Shapes

    mutating func mapping(_ place: ScenarioPlace, _ what: String) -> ScenarioFields? {
        guard case .mapping(let mapping) = place.node else {
            report(place, "\(what) is a block of keys and values; write ‘key: value’ under it")
            return nil
        }
        var values: [String: ScenarioPlace] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                report(ScenarioPlace(node: key), "a key is a word; this is a list or a block")
                continue
            }
            values[name] = ScenarioPlace(node: value)
        }
        return ScenarioFields(place: place, what: what, values: values)
    }

    /// Reports the keys that nobody asked for.
    mutating func finish(_ fields: ScenarioFields) {
        let left = fields.values.sorted { ($0.value.line, $0.key) < ($1.value.line, $1.key) }
        for (key, place) in left {
            report(
                place,
                "\(fields.what) has no key ‘\(key)’; "
                    + NearMiss.advice(key, among: fields.known.sorted())
            )
        }
    }

    func take(_ fields: inout ScenarioFields, _ key: String) -> ScenarioPlace? {
        fields.known.append(key)
        return fields.values.removeValue(forKey: key)
    }

    mutating func elements(_ fields: inout ScenarioFields, _ key: String) -> [ScenarioPlace] {
        guard let place = take(&fields, key) else { return [] }
        guard case .sequence(let sequence) = place.node else {
            report(place, "‘\(key)’ is a list; begin each element with a hyphen")
            return []
        }
        return sequence.map { ScenarioPlace(node: $0) }
    }

    // MARK: - Scalars

    mutating func scalar(_ place: ScenarioPlace, _ label: String) -> String? {
        guard case .scalar(let scalar) = place.node, !scalar.string.isEmpty else {
            report(place, "\(label) is one word or number; write it behind the colon")
            return nil
        }
        return scalar.string
    }

    mutating func text(_ fields: inout ScenarioFields, _ key: String) -> String? {
        take(&fields, key).flatMap { scalar($0, "‘\(key)’") }
    }

    mutating func requiredText(_ fields: inout ScenarioFields, _ key: String) -> String {
        guard let place = take(&fields, key) else {
            report(fields.place, "\(fields.what) has no ‘\(key)’; add it")
            return ""
        }
        return scalar(place, "‘\(key)’") ?? ""
    }

    mutating func texts(_ fields: inout ScenarioFields, _ key: String) -> [String]? {
        guard fields.values[key] != nil else {
            fields.known.append(key)
            return nil
        }
        return elements(&fields, key).compactMap { scalar($0, "an element of ‘\(key)’") }
    }

    mutating func number(
        _ fields: inout ScenarioFields,
        _ key: String,
        in range: ClosedRange<Int>
    ) -> Int? {
        guard let place = take(&fields, key), let text = scalar(place, "‘\(key)’") else {
            return nil
        }
        guard let number = Int(text), range.contains(number) else {
            report(
                place,
                "‘\(key)’ is a whole number from \(range.lowerBound) to \(range.upperBound), "
                    + "not ‘\(text.prefix(40))’"
            )
            return nil
        }
        return number
    }

    /// A number from 0 to a million that may have decimals.
    mutating func decimal(_ fields: inout ScenarioFields, _ key: String) -> Double? {
        guard let place = take(&fields, key), let text = scalar(place, "‘\(key)’") else {
            return nil
        }
        guard let number = Double(text), (0...1_000_000_000).contains(number) else {
            report(place, "‘\(key)’ is a number like 12.99, not ‘\(text.prefix(40))’")
            return nil
        }
        return number
    }

    mutating func truth(_ fields: inout ScenarioFields, _ key: String) -> Bool? {
        word(&fields, key, of: ["true", "false"]).map { $0 == "true" }
    }

    mutating func word(
        _ fields: inout ScenarioFields,
        _ key: String,
        of words: [String]
    ) -> String? {
        guard let place = take(&fields, key), let text = scalar(place, "‘\(key)’") else {
            return nil
        }
        guard words.contains(text) else {
            report(
                place,
                "‘\(text.prefix(40))’ is no \(key); " + NearMiss.advice(text, among: words)
            )
            return nil
        }
        return text
    }

    // MARK: - Time

    /// An instant, in UNIX milliseconds.
    mutating func instant(_ fields: inout ScenarioFields, _ key: String) -> Int64? {
        guard let place = take(&fields, key), let text = scalar(place, "‘\(key)’") else {
            return nil
        }
        return instant(text, place)?.milliseconds
    }

    mutating func instant(_ text: String, _ place: ScenarioPlace) -> ScenarioTime? {
        let time =
            text.hasPrefix("+")
            ? previous.flatMap { ScenarioTime(span: text.dropFirst(), after: $0) }
            : ScenarioTime(text)
        if time == nil {
            report(
                place,
                "‘\(text.prefix(40))’ is no time; write 2026-01-31, 2026-01-31 18:30, "
                    + "2026-01-31 18:30:15.250 (in UTC), or +3d, +1h30m after the step before"
            )
        }
        return time
    }
}
