internal import TollgateCore
internal import Yams

/// `tollgate.yaml`: the settings of a server in one file.
///
/// Each setting is also a variable, which wins over the file. Keys that are not known are refused, and all
/// mistakes are reported at once with their places.
package struct SettingsFile: Sendable {
    /// Where a value comes from.
    package enum Source: Hashable, Sendable {
        case text(String)
        /// The first line of a file.
        case file(String)
        /// An environment variable of another name.
        case variable(String)
        /// A file of the folder that systemd names in `CREDENTIALS_DIRECTORY`.
        case credential(String)
    }

    /// A value, with its place.
    package struct Value: Hashable, Sendable {
        package var source: Source
        package var line: Int
        package var column: Int
    }

    /// By the name of the variable without `TOLLGATE_`; several are joined by commas there.
    package var values: [String: [Value]] = [:]

    /// - Parameter file: what to call it in errors; nothing is opened.
    package static func read(
        bytes: some Sequence<UInt8>,
        file: String
    ) throws(CatalogErrors) -> SettingsFile {
        let root = try CatalogReader.compose(
            bytes: bytes,
            file: file,
            ifEmpty: "there are no settings; make some with tollgate config init"
        )
        var reading = YAMLReading(hidesTexts: true)
        var settings = SettingsFile()
        settings.read(root, "the configuration", Self.keys, &reading)
        let errors = reading.errors(file: file)
        guard errors.isEmpty else { throw CatalogErrors(errors) }
        return settings
    }

    private mutating func read(
        _ place: YAMLPlace,
        _ what: String,
        _ keys: [String: Key],
        _ reading: inout YAMLReading
    ) {
        let fields = reading.mapping(place, what, keys: keys.keys.sorted())
        for (word, place) in fields.values {
            switch keys[word] {
            case nil: continue
            case .block(let below): read(place, "‘\(word)’", below, &reading)
            case .one(let name): add(reading.one(place, word), to: name)
            case .many(let name): for value in reading.many(place, word) { add(value, to: name) }
            case .truth(let name):
                if let truth = reading.truth(fields, word) { add(place, "\(truth)", to: name) }
            case .number(let name):
                let number: Int64? = reading.wholeNumber(fields, word)
                if let number { add(place, "\(number)", to: name) }
            }
        }
    }

    private mutating func add(_ value: Value?, to name: String) {
        if let value { values[name, default: []].append(value) }
    }

    private mutating func add(_ place: YAMLPlace, _ text: String, to name: String) {
        add(Value(source: .text(text), place), to: name)
    }
}

extension SettingsFile.Value {
    fileprivate init(source: SettingsFile.Source, _ place: YAMLPlace) {
        let mark = place.node.mark
        self.init(source: source, line: mark?.line ?? 1, column: mark?.column ?? 1)
    }
}

extension YAMLReading {
    /// A text, or where it comes from: `{file: PATH}`, `{env: NAME}` or `{credential: NAME}`.
    fileprivate mutating func one(_ place: YAMLPlace, _ word: String) -> SettingsFile.Value? {
        switch place.node {
        case .sequence:
            report(place, "‘\(word)’ is one value; remove the list around it")
            return nil
        case .mapping(let pairs):
            let ways: [(String, (String) -> SettingsFile.Source)] = [
                ("file", { .file($0) }), ("env", { .variable($0) }),
                ("credential", { .credential($0) }),
            ]
            let fields = mapping(place, "‘\(word)’", keys: ways.map(\.0))
            let named = ways.compactMap { key, source in
                text(fields, key).map { SettingsFile.Value(source: source($0), place) }
            }
            guard named.count <= 1 else {
                report(place, "‘\(word)’ comes from one place: keep one of its keys")
                return nil
            }
            if pairs.isEmpty {
                report(place, "‘\(word)’ is a text, or one of {file: …}, {env: …}, {credential: …}")
            }
            return named.first
        default:
            return text(place).map { SettingsFile.Value(source: .text($0), place) }
        }
    }

    /// One value, or a list of them.
    fileprivate mutating func many(_ place: YAMLPlace, _ word: String) -> [SettingsFile.Value] {
        guard case .sequence(let sequence) = place.node else {
            return one(place, word).map { [$0] } ?? []
        }
        return sequence.enumerated().compactMap { index, node in
            let place = YAMLPlace(node: node, path: place.path + [.index(index)])
            let value = one(place, word)
            if case .text(let text)? = value?.source, text.contains(",") {
                report(place, "an element of ‘\(word)’ has no comma; write two elements")
            }
            return value
        }
    }
}
