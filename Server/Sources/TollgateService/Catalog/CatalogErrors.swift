/// One mistake in a catalog file, with its place.
public struct CatalogError: Codable, Hashable, Sendable {
    /// The file's name as it was given.
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// Counted from 1, in Unicode scalars.
    public var column: Int
    /// What is wrong and what to do about it.
    public var message: String

    public init(file: String, line: Int, column: Int, message: String) {
        (self.file, self.line, self.column, self.message) = (file, line, column, message)
    }
}

extension CatalogError: CustomStringConvertible {
    /// As compilers print it, so that editors find the place: `catalog.yaml:12:5: error: …`.
    public var description: String { "\(file):\(line):\(column): error: \(message)" }
}

/// Why a catalog cannot be adopted: every mistake in it, in the order of the file.
public struct CatalogErrors: Error, Hashable, Sendable {
    /// At least one.
    public var errors: [CatalogError]

    public init(_ errors: [CatalogError]) {
        self.errors = errors
    }

    init(file: String, line: Int, column: Int, message: String) {
        self.init([CatalogError(file: file, line: line, column: column, message: message)])
    }
}

extension CatalogErrors: CustomStringConvertible {
    /// A line for each mistake.
    public var description: String {
        errors.map(\.description).joined(separator: "\n")
    }
}
