/// What only a programmer understands, and no answer may hold.
///
/// `plain_words.py` looks for the same from outside.
enum DumpedWords {
    static func found(in text: String) -> String? {
        // A type of this program or of a library, what a decoder says, an errno.
        let pattern =
            #/
            \b\w*(?:Error|Failure|Refusal)(?:\.[a-z]|\()
            |\b(?:Swift|NIO\w*|Foundation|AsyncHTTPClient|Hummingbird)\.[A-Z]\w+
            |\b(?:Tollgate[A-Z]\w*|AppStoreAPI|StripeAPI|StrictJSON|Storage\w*)\.[A-Z]\w+
            |\b(?:keyNotFound|typeMismatch|valueNotFound|dataCorrupted|codingPath)\b
            |Error\ Domain=|\berrno\b|\bOptional\(|CodingKeys?\(
            /#
        return text.firstMatch(of: pattern).map { String($0.output) }
    }
}
