public import TollgateCore
import Yams

/// Reads `catalog.yaml`.
///
/// A mistyped key must not be ignored in silence, since what it would have said is about money:
/// keys that we do not know are refused. All mistakes are reported at once, each with its place,
/// except that a text which is no YAML ends with the first.
public enum CatalogReader {
    /// The largest file that is read, in bytes.
    public static let sizeLimit = 1 << 20

    /// Reads a catalog and checks that a server can adopt it.
    ///
    /// - Parameters:
    ///   - text: The YAML.
    ///   - file: What to call it in errors; nothing is opened.
    public static func read(
        _ text: String,
        file: String = "catalog.yaml"
    ) throws(CatalogErrors) -> Catalog {
        guard text.utf8.count <= sizeLimit else {
            throw CatalogErrors(
                file: file,
                line: 1,
                column: 1,
                message: "a catalog has at most \(sizeLimit) bytes; is this the right file?"
            )
        }
        let root = try compose(
            text,
            file: file,
            ifEmpty: "the catalog is empty; start from the sample catalog.yaml"
        )
        var reading = YAMLReading()
        let catalog = reading.catalog(root)
        let errors = reading.errors(file: file, alsoIn: catalog.validate())
        guard errors.isEmpty else { throw CatalogErrors(errors) }
        return catalog
    }

    /// The same for the bytes of a file.
    public static func read(
        bytes: some Sequence<UInt8>,
        file: String = "catalog.yaml"
    ) throws(CatalogErrors) -> Catalog {
        try read(try text(bytes, file: file), file: file)
    }

    /// The YAML of another file than the catalog.
    package static func compose(
        bytes: some Sequence<UInt8>,
        file: String,
        ifEmpty message: String
    ) throws(CatalogErrors) -> YAMLPlace {
        try compose(try text(bytes, file: file), file: file, ifEmpty: message)
    }

    private static func text(
        _ bytes: some Sequence<UInt8>,
        file: String
    ) throws(CatalogErrors) -> String {
        guard let text = String(validating: Array(bytes), as: UTF8.self) else {
            throw CatalogErrors(
                file: file,
                line: 1,
                column: 1,
                message: "this is not UTF-8; save the file in that encoding"
            )
        }
        return text
    }

    private static func compose(
        _ text: String,
        file: String,
        ifEmpty message: String
    ) throws(CatalogErrors) -> YAMLPlace {
        do {
            if let node = try Parser(yaml: text, encoding: .utf8).singleRoot() {
                return YAMLPlace(node: node, path: [])
            }
        } catch let error as YamlError {
            throw CatalogErrors([error.catalogError(file: file)])
        } catch {
            throw CatalogErrors(file: file, line: 1, column: 1, message: "\(error)")
        }
        throw CatalogErrors(file: file, line: 1, column: 1, message: message)
    }
}

extension YamlError {
    /// The error with its place, in the words of the YAML parser where these are all there is.
    fileprivate func catalogError(file: String) -> CatalogError {
        switch self {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let whole = [context?.text, problem].compactMap(\.self).joined(separator: ", ")
            return CatalogError(
                file: file,
                line: max(1, mark.line),
                column: max(1, mark.column),
                message: "this is not YAML: \(whole); look at the indentation and the quotes here"
            )
        case .reader(let problem, let offset, _, let yaml):
            let before = yaml.prefix(offset ?? 0)
            let line = before.split(separator: "\n", omittingEmptySubsequences: false)
            return CatalogError(
                file: file,
                line: max(1, line.count),
                column: (line.last?.count ?? 0) + 1,
                message: "this is not YAML: \(problem); remove the character"
            )
        case .duplicatedKeysInMapping(let duplicates, let context):
            let keys = duplicates.map { "‘\($0)’" }.joined(separator: ", ")
            return CatalogError(
                file: file,
                line: max(1, context.mark.line),
                column: max(1, context.mark.column),
                message: "\(keys) is there more than once in one place; keep one"
            )
        default:
            return CatalogError(file: file, line: 1, column: 1, message: "\(self)")
        }
    }
}
