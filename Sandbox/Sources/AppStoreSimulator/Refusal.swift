extension SimulatedAppStore {
    /// Why the store, or the sandbox around it, does not do what it was asked to.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no such customer, product, transaction or subscription.
        case notFound(String)
        /// It exists but is not in a state that allows this.
        case notPossible(String)
        /// The request makes no sense.
        case invalid(String)

        public var description: String {
            switch self {
            case .notFound(let what): "No such \(what)."
            case .notPossible(let why), .invalid(let why): why
            }
        }
    }
}
