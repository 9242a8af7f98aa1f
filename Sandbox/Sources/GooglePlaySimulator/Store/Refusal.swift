/// Why the sandbox does not do what it was asked to.
enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case notFound(String)
    /// It exists, but is not in a state that allows this.
    case notPossible(String)
    case invalid(String)

    var description: String {
        switch self {
        case .notFound(let what): "There is no \(what)."
        case .notPossible(let why), .invalid(let why): why
        }
    }
}
