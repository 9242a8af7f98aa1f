/// The body of one control call, taken out key by key: what nobody took is refused by its name.
struct ControlBody: Sendable {
    private let members: [String: JSON]
    private var taken: Set<String> = []

    /// - Throws: `Refusal`, where it is no object.
    init(_ json: JSON) throws(StripeSimulator.Refusal) {
        guard let members = json.members else {
            throw StripeSimulator.Refusal(message: "The body is no JSON object.")
        }
        self.members = members
    }

    private mutating func take<Value>(
        _ key: String,
        _ kind: String,
        _ read: (JSON) -> Value?
    ) throws(StripeSimulator.Refusal) -> Value? {
        taken.insert(key)
        guard let sent = members[key], !sent.isNull else { return nil }
        guard let value = read(sent) else {
            throw StripeSimulator.Refusal(message: "\(key) is \(kind).")
        }
        return value
    }

    mutating func string(_ key: String) throws(StripeSimulator.Refusal) -> String? {
        try take(key, "a text", \.string)
    }

    mutating func int(_ key: String) throws(StripeSimulator.Refusal) -> Int? {
        try take(key, "a whole number", \.int)
    }

    mutating func bool(_ key: String) throws(StripeSimulator.Refusal) -> Bool? {
        try take(key, "true or false", \.bool)
    }

    mutating func strings(_ key: String) throws(StripeSimulator.Refusal) -> [String]? {
        try take(key, "a list of texts") { sent in
            let texts = sent.array?.compactMap(\.string)
            return texts?.count == sent.array?.count ? texts : nil
        }
    }

    mutating func ints(_ key: String) throws(StripeSimulator.Refusal) -> [Int]? {
        try take(key, "a list of whole numbers") { sent in
            let numbers = sent.array?.compactMap(\.int)
            return numbers?.count == sent.array?.count ? numbers : nil
        }
    }

    /// One of some words.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        as: Word.Type
    ) throws(StripeSimulator.Refusal) -> Word? where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try take(key, "one of \(words)") { $0.string.flatMap(Word.init(rawValue:)) }
    }

    /// All of it, where something else reads it that knows these keys.
    mutating func all(of keys: [String]) -> JSON {
        taken.formUnion(keys)
        return .object(members)
    }

    /// Refuses what was not taken.
    func finish() throws(StripeSimulator.Refusal) {
        guard let unknown = members.keys.filter({ !taken.contains($0) }).min() else { return }
        let known = taken.isEmpty ? "none" : taken.sorted().joined(separator: ", ")
        throw StripeSimulator.Refusal(
            code: "parameter_unknown",
            message: "Unknown key: \(unknown). Known here: \(known)."
        )
    }
}
