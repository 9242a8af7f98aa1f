import Foundation

extension Catalog {
    /// This catalog as JSON in its one canonical form: sorted keys, no spaces, no escaped slashes.
    ///
    /// Equal catalogs give equal bytes, so their hash names an adopted version, whatever comments
    /// and order of keys the YAML had.
    public func canonicalJSON() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
