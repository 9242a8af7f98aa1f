/// One thing that is wrong with a catalog, with the place where to mend it.
public struct CatalogProblem: Hashable, Sendable {
    /// One step from the root of the catalog towards the value at fault.
    public enum Step: Hashable, Sendable {
        /// The value under this key, spelled as in `catalog.yaml`.
        case key(String)
        /// The element of a list, counted from 0.
        case index(Int)
    }

    /// Where it is, from the root.
    ///
    /// A key that is not there leads to the place where it is missing.
    public var path: [Step]
    /// What is wrong and what to do about it, in a sentence.
    public var message: String

    public init(path: [Step], message: String) {
        self.path = path
        self.message = message
    }
}

extension CatalogProblem: CustomStringConvertible {
    /// The path as people write it, and the sentence: `products[2].duration: …`.
    public var description: String {
        var place = ""
        for step in path {
            switch step {
            case .key(let key): place += place.isEmpty ? key : ".\(key)"
            case .index(let index): place += "[\(index)]"
            }
        }
        return "\(place): \(message)"
    }
}
