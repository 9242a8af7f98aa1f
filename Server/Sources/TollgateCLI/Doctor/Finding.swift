/// What `tollgate doctor` found out about one thing that can be wrong.
struct Finding: Encodable, Sendable {
    enum State: String, Encodable, CaseIterable {
        case ok
        /// It works, and somebody should look at it.
        case warning
        /// It does not work.
        case failed
        /// It is not set up, or cannot be asked from here.
        case skipped
    }

    /// A name for programs: `stripe.webhook_endpoint`.
    var check: String
    var state: State
    var sentence: String
    /// What to do; `nil` where nothing is to be done.
    var remedy: String?

    static func ok(_ check: String, _ sentence: String) -> Finding {
        Finding(check: check, state: .ok, sentence: sentence, remedy: nil)
    }

    static func warning(_ check: String, _ sentence: String, _ remedy: String) -> Finding {
        Finding(check: check, state: .warning, sentence: sentence, remedy: remedy)
    }

    /// - Parameter sentence: also a message of a store or a library, which may lack its full stop.
    static func failed(_ check: String, _ sentence: String, _ remedy: String) -> Finding {
        let ended = sentence.hasSuffix(".") || sentence.hasSuffix("?") ? sentence : sentence + "."
        return Finding(check: check, state: .failed, sentence: ended, remedy: remedy)
    }

    static func skipped(_ check: String, _ sentence: String) -> Finding {
        Finding(check: check, state: .skipped, sentence: sentence, remedy: nil)
    }
}
