public import TollgateCore

/// The outcome of `tollgate catalog check FILE`.
public struct CatalogCheck: Codable, Hashable, Sendable {
    /// The file's name as it was given.
    public var file: String
    /// The catalog, if a server could adopt it.
    public var catalog: Catalog?
    /// What is wrong with it otherwise.
    public var errors: [CatalogError]

    /// Checks the bytes of a catalog file.
    public init(bytes: some Sequence<UInt8>, file: String) {
        self.file = file
        do {
            catalog = try CatalogReader.read(bytes: bytes, file: file)
            errors = []
        } catch {
            catalog = nil
            errors = error.errors
        }
    }

    /// Whether the exit code is 0.
    public var isOK: Bool { errors.isEmpty }

    /// What the command prints: a line for each error, or what the catalog holds.
    public var text: String {
        guard let catalog else {
            let count = errors.count == 1 ? "1 error" : "\(errors.count) errors"
            return errors.map(\.description).joined(separator: "\n") + "\n\(file): \(count)"
        }
        var parts = [
            (catalog.entitlements.count, "entitlement"), (catalog.products.count, "product"),
            (catalog.buyButtons.count, "buy button"),
        ]
        for (count, name) in [
            (catalog.offerings.count, "offering"), (catalog.placements.count, "placement"),
        ] where count > 0 {
            parts.append((count, name))
        }
        if !catalog.apps.isEmpty { parts.insert((catalog.apps.count, "app"), at: 0) }
        let counts = parts.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return "\(file): ok, " + counts.joined(separator: ", ")
    }
}
