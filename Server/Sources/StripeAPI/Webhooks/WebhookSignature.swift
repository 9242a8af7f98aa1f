import Crypto

extension Stripe {
    /// The scheme `v1` of the header `Stripe-Signature`.
    ///
    /// The header is `t=<UNIX seconds>,v1=<hex>[,v1=<hex>…][,v0=…]`, and a `v1` is the
    /// HMAC-SHA256 of `"<t>.<raw body>"` with a whole endpoint secret as its key, `whsec_`
    /// included. While a secret is rolled Stripe sends one `v1` for each, and here too several
    /// secrets are accepted: any match passes. Every other scheme is ignored.
    public enum WebhookSignature {
        /// Why a webhook is refused.
        public struct Refusal: Error, Hashable, Sendable {
            /// The rule that was broken.
            public enum Reason: String, CaseIterable, Hashable, Sendable {
                /// There is no header.
                case missingHeader
                /// The header has no `t`, or one that is no number.
                case noTimestamp
                /// The header has several `t`: which of them was signed cannot be told.
                case severalTimestamps
                /// The header has no `v1`; `v0` alone proves nothing.
                case noSignature
                /// No secret is configured, or only empty ones, which anybody could sign with.
                case noSecret
                /// No `v1` was made with one of the secrets from this body.
                case mismatch
                /// The signature is right, but older than the tolerance: a replay, or our clock is
                /// ahead of Stripe's.
                case tooOld
            }

            public let reason: Reason
            /// How many seconds ago it was signed, where that is too long.
            public let age: Int64?

            public init(_ reason: Reason, age: Int64? = nil) {
                self.reason = reason
                self.age = age
            }

            /// The error code of the answer 400: `stripe_timestamp` if the signature is right and
            /// only its time is not, else `stripe_signature`.
            public var code: String {
                switch reason {
                case .tooOld: "stripe_timestamp"
                default: "stripe_signature"
                }
            }
        }

        /// Checks that `body` was sent by Stripe, and not long ago.
        ///
        /// A `t` that lies ahead passes, as in Stripe's own libraries: our clock is behind, and what
        /// somebody caught and sends again has no effect, since an event counts once.
        ///
        /// - Parameters:
        ///   - header: The value of `Stripe-Signature`, nil if there was none.
        ///   - body: The bytes as they came. What was parsed and written again does not match.
        ///   - secrets: The endpoint's secrets (`whsec_…`), the old one too while it is rolled.
        ///   - now: The wall clock in UNIX seconds; never the domain's clock (`RULES.md` §14).
        ///   - tolerance: How many seconds `t` may lie before `now`, inclusive.
        /// - Returns: When it was signed, in UNIX seconds.
        @discardableResult
        public static func verify(
            header: String?,
            body: [UInt8],
            secrets: [String],
            now: Int64,
            tolerance: Int64 = 300
        ) throws(Refusal) -> Int64 {
            guard let header else { throw Refusal(.missingHeader) }
            let parts = try Parts(header)
            let keys = secrets.filter { !$0.isEmpty }
            guard !keys.isEmpty else { throw Refusal(.noSecret) }
            var isGenuine = false
            for key in keys {
                // All are tried, so that the time taken does not tell which one matched.
                isGenuine = parts.match(body: body, secret: key) || isGenuine
            }
            guard isGenuine else { throw Refusal(.mismatch) }
            return try parts.checkTime(now: now, tolerance: tolerance)
        }
    }
}

extension Stripe.WebhookSignature.Refusal: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .missingHeader: "The header Stripe-Signature is missing."
        case .noTimestamp: "The header Stripe-Signature has no time: 't=' and a number of seconds."
        case .severalTimestamps: "The header Stripe-Signature has several times."
        case .noSignature: "The header Stripe-Signature has no signature of the scheme 'v1'."
        case .noSecret: "No signing secret of this endpoint is known here."
        case .mismatch:
            "The signature is not of this body by this endpoint's signing secret (whsec_…)."
        case .tooOld:
            "It was signed \(age.map { "\($0) seconds" } ?? "too long") ago: it was sent before, or the clock here is ahead."
        }
    }
}

/// What the header says.
private struct Parts {
    /// As it was written, since its text is what was signed.
    var timestamp: String
    var signatures: [[UInt8]]

    init(_ header: String) throws(Stripe.WebhookSignature.Refusal) {
        var timestamps: [Substring] = []
        var candidates: [Substring] = []
        for item in header.split(separator: ",") {
            // Only the first `=` separates; a value may contain more.
            guard let separator = item.firstIndex(of: "=") else { continue }
            let value = item[item.index(after: separator)...]
            switch item[..<separator] {
            case "t": timestamps.append(value)
            case "v1": candidates.append(value)
            default: continue
            }
        }
        guard timestamps.count <= 1 else { throw .init(.severalTimestamps) }
        guard let timestamp = timestamps.first, Self.isInteger(timestamp) else {
            throw .init(.noTimestamp)
        }
        guard !candidates.isEmpty else { throw .init(.noSignature) }
        self.timestamp = String(timestamp)
        signatures = candidates.compactMap(Self.bytes(hex:))
    }

    func match(body: [UInt8], secret: String) -> Bool {
        var hmac = HMAC<SHA256>(key: SymmetricKey(data: Array(secret.utf8)))
        hmac.update(data: Array(timestamp.utf8))
        hmac.update(data: [UInt8(ascii: ".")])
        hmac.update(data: body)
        let expected = Array(hmac.finalize())
        var isMatch = false
        for signature in signatures {
            isMatch = Self.areEqual(signature, expected) || isMatch
        }
        return isMatch
    }

    func checkTime(now: Int64, tolerance: Int64) throws(Stripe.WebhookSignature.Refusal) -> Int64 {
        guard let signed = Int64(timestamp) else {
            // More digits than any clock has.
            throw .init(timestamp.hasPrefix("-") ? .tooOld : .noTimestamp)
        }
        guard signed < now else { return signed }
        let (age, overflow) = now.subtractingReportingOverflow(signed)
        guard !overflow else { throw .init(.tooOld) }
        guard age <= tolerance else { throw .init(.tooOld, age: age) }
        return signed
    }

    private static func isInteger(_ text: Substring) -> Bool {
        let digits = text.first == "-" ? text.dropFirst() : text
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The 32 bytes of 64 lower-case hexadecimal digits, which is all that Stripe sends.
    private static func bytes(hex: Substring) -> [UInt8]? {
        let digits = Array(hex.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for pair in stride(from: 0, to: 64, by: 2) {
            guard let high = nibble(digits[pair]), let low = nibble(digits[pair + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// Compares in a time that depends on the length only.
    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(one, other) { difference |= a ^ b }
        return difference == 0
    }
}
