/// An error of a store's, or about what somebody sent in its name.
public protocol StoreFault: Error {
    /// What a caller is told of it.
    var refusal: Refusal { get }
}
