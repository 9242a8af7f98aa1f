/// What became of a message from a store.
///
/// All of them are answered 200: it is durable, or it is durable already, or keeping it was all
/// that could be done.
public enum MessageOutcome: Hashable, Sendable {
    case recorded
    case duplicate
    /// Kept, and what it is about will be read from the store.
    case hint
    case nothing
    case parked

    /// `true` if the journal did not have the message.
    ///
    /// A parked message may have come before, so it counts as known.
    public var isNew: Bool {
        switch self {
        case .recorded, .hint, .nothing: true
        case .duplicate, .parked: false
        }
    }

    var label: String {
        switch self {
        case .recorded: "recorded"
        case .duplicate: "duplicate"
        case .hint: "hint"
        case .nothing: "nothing"
        case .parked: "parked"
        }
    }
}
