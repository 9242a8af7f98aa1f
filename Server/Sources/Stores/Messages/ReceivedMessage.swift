/// A message of a store as it came, unverified.
public struct ReceivedMessage: Sendable {
    /// How it came.
    public enum Way: Hashable, Sendable {
        /// The store has sent it, with a signature of the transport where it has one.
        case delivered(signature: String?)
        /// We have found it in the store's list of what it has sent.
        case fetched
        /// It was parked after it had been verified.
        case parked
    }

    public var body: [UInt8]
    public var way: Way

    public init(_ body: [UInt8], _ way: Way = .delivered(signature: nil)) {
        self.body = body
        self.way = way
    }
}
