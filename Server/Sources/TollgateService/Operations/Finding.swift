// SPDX-License-Identifier: Apache-2.0
public import TollgateCore

/// The result of one check.
public struct Finding: Codable, Hashable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case ok
        /// It works, and somebody should look at it.
        case warning
        /// It does not work.
        case failed
        /// It is not set up, or cannot be checked from here.
        case skipped
    }

    /// A name for programs: `stripe.webhook_endpoint`.
    public var check: String
    public var state: State
    public var sentence: Sentence
    /// The remedy; `nil` if there is nothing to do.
    public var remedy: Sentence?
    /// It could not be judged at the moment: what was found before holds.
    var isUndecided = false

    private enum CodingKeys: String, CodingKey {
        case check, state, sentence, remedy
    }

    public static func ok(_ check: String, _ sentence: Sentence) -> Finding {
        Finding(check: check, state: .ok, sentence: sentence, remedy: nil)
    }

    public static func warning(_ check: String, _ sentence: Sentence, _ remedy: Sentence) -> Finding
    {
        Finding(check: check, state: .warning, sentence: sentence, remedy: remedy)
    }

    /// - Parameter sentence: also a message of a store or a library, which may lack its full stop.
    public static func failed(_ check: String, _ sentence: Sentence, _ remedy: Sentence) -> Finding
    {
        var ended = sentence
        if !sentence.text.hasSuffix("."), !sentence.text.hasSuffix("?") { ended += "." }
        return Finding(check: check, state: .failed, sentence: ended, remedy: remedy)
    }

    public static func skipped(_ check: String, _ sentence: Sentence) -> Finding {
        Finding(check: check, state: .skipped, sentence: sentence, remedy: nil)
    }

    /// What cannot be judged at the moment: an alarm about it goes on.
    public static func undecided(_ check: String, _ sentence: Sentence) -> Finding {
        var finding = skipped(check, sentence)
        finding.isUndecided = true
        return finding
    }
}
