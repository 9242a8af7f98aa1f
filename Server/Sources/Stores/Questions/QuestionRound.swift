internal import Synchronization

/// What came of the questions that a store was asked in one round.
public struct QuestionRound {
    /// So many faults in a row are not only some objects'.
    private static let mostFaults = 10

    /// How many questions the store answered.
    public private(set) var answers = 0
    /// How many it answered with a fault of its own.
    public private(set) var faults = 0
    private var faultsInARow = 0

    /// Whether it is worth asking more of this kind.
    public var goesOn: Bool { faultsInARow < Self.mostFaults }

    public mutating func beginKind() {
        faultsInARow = 0
    }

    public mutating func answered() {
        answers += 1
        faultsInARow = 0
    }

    public mutating func failed() {
        faults += 1
        faultsInARow += 1
    }
}

/// The consequence of a store's error for the question.
public enum ErrorMeaning: Sendable {
    /// It will never be answered.
    case final
    /// The answer cannot be read.
    case unreadable
    /// A fault of the store's, which may be this object's and say nothing of others.
    case fault
    /// No answer came; it may be the one object that takes too long.
    case unreachable
    /// The store is asked too often, or our key was refused: then every question fails.
    case unwilling
}

/// When a store is asked again that gave no answer: questions that never failed, and the others.
///
/// Apart, so that objects about which it will never answer do not slow down what is new.
struct QuestionPaces {
    let first = RetryPace()
    let again = RetryPace()

    /// The store answers.
    func succeeded() {
        first.succeeded()
        again.succeeded()
    }
}

/// Which of the last rounds broke off: of the questions that never failed, of the others.
final class BrokenRounds: Sendable {
    private let state = Mutex((first: false, again: false))

    var isAny: Bool { state.withLock { $0.first || $0.again } }

    func note(_ again: Bool, _ isBroken: Bool) {
        state.withLock { if again { $0.again = isBroken } else { $0.first = isBroken } }
    }
}
