/// A reason for which the sandbox refuses an act.
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
