import Crypto
import StripeAPI
import Testing

/// Rows W1 and W2 of the attacks: a webhook that was not signed, not for us, or not now.
@Suite("Stripe's webhook signature")
struct WebhookSignatureTests {
    static let secret = "whsec_test_secret"
    static let body = #"{"id":"evt_1","object":"event"}"#
    static let now: Int64 = 1_790_000_000

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var header: String?
        var body = WebhookSignatureTests.body
        var secrets = [WebhookSignatureTests.secret]
        /// Nil: it passes.
        var reason: Stripe.WebhookSignature.Refusal.Reason?

        init(
            _ description: String,
            _ header: String?,
            body: String = WebhookSignatureTests.body,
            secrets: [String] = [WebhookSignatureTests.secret],
            _ reason: Stripe.WebhookSignature.Refusal.Reason? = nil
        ) {
            testDescription = description
            self.header = header
            self.body = body
            self.secrets = secrets
            self.reason = reason
        }
    }

    /// The header as Stripe makes it; `t` is signed as it is written.
    static func header(
        t: String = "\(now)",
        secret: String = secret,
        body: String = body
    ) -> String { "t=\(t),v1=\(signature(t: t, secret: secret, body: body))" }

    static func signature(
        t: String = "\(now)",
        secret: String = secret,
        body: String = body
    ) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(t).\(body)".utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return code.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    static let good = signature()
    static let forged = String(repeating: "0", count: 64)

    static let w1 = [
        Row("as Stripe signs it", header()),
        Row("two v1, the good one first", "t=\(now),v1=\(good),v1=\(forged)"),
        Row("two v1, the good one last", "t=\(now),v1=\(forged),v1=\(good)"),
        Row("a v0 and unknown schemes beside it", "t=\(now),v0=\(forged),v2=x,v1=\(good),x"),
        Row("v1 before t", "v1=\(good),t=\(now)"),
        Row(
            "the second of two secrets, while one is rolled",
            header(),
            secrets: ["whsec_new", secret]
        ),
        Row("an empty secret beside ours", header(), secrets: ["", secret]),
        Row("an empty body", header(body: ""), body: ""),
        Row("no header", nil, .missingHeader),
        Row("an empty header", "", .noTimestamp),
        Row("rubbish", "hello", .noTimestamp),
        Row("no t", "v1=\(good)", .noTimestamp),
        Row("an empty t", "t=,v1=\(good)", .noTimestamp),
        Row("t is no number", header(t: "now"), .noTimestamp),
        Row("t with a sign", header(t: "+\(now)"), .noTimestamp),
        Row("t with a fraction", header(t: "\(now).0"), .noTimestamp),
        Row("two t", "t=\(now),t=\(now),v1=\(good)", .severalTimestamps),
        Row("two different t", "t=1,t=\(now),v1=\(good)", .severalTimestamps),
        Row("no v1", "t=\(now)", .noSignature),
        Row("v0 only, though it is right", "t=\(now),v0=\(good)", .noSignature),
        Row("a scheme with a space before it", "t=\(now), v1=\(good)", .noSignature),
        Row("an empty v1", "t=\(now),v1=", .mismatch),
        Row("v1 is no hex", "t=\(now),v1=\(String(repeating: "z", count: 64))", .mismatch),
        Row("v1 is cut short", "t=\(now),v1=\(good.dropLast(2))", .mismatch),
        Row("v1 with something after it", "t=\(now),v1=\(good)00", .mismatch),
        Row("v1 in capitals", "t=\(now),v1=\(good.uppercased())", .mismatch),
        Row("one digit of v1 differs", "t=\(now),v1=\(swapped(good))", .mismatch),
        Row("another secret", header(secret: "whsec_other"), .mismatch),
        Row("the secret without whsec_", header(secret: "test_secret"), .mismatch),
        Row("signed with the empty secret", header(secret: ""), secrets: [""], .noSecret),
        Row("no secret", header(), secrets: [], .noSecret),
        Row(
            "the body written again",
            header(),
            body: #"{"id": "evt_1", "object": "event"}"#,
            .mismatch
        ),
        Row("a line feed after the body", header(), body: body + "\n", .mismatch),
        Row(
            "one byte of the body differs",
            header(),
            body: #"{"id":"evt_2","object":"event"}"#,
            .mismatch
        ),
        Row(
            "the body in another Unicode form",
            header(body: "caf\u{E9}"),
            body: "cafe\u{301}",
            .mismatch
        ),
        Row("t of another signature", "t=\(now - 1),v1=\(good)", .mismatch),
        Row("further ahead than a clock can be", header(t: "99999999999999999999"), .noTimestamp),
    ]

    static let w2 = [
        Row("300 seconds old", header(t: "\(now - 300)")),
        Row("301 seconds old", header(t: "\(now - 301)"), .tooOld),
        Row("300 seconds ahead", header(t: "\(now + 300)")),
        Row("301 seconds ahead", header(t: "\(now + 301)")),
        Row("far ahead", header(t: "9223372036854775807")),
        Row("negative", header(t: "-\(now)"), .tooOld),
        Row("as negative as can be", header(t: "-9223372036854775808"), .tooOld),
        Row("more negative than that", header(t: "-99999999999999999999"), .tooOld),
        Row("in milliseconds", header(t: "\(now)000")),
        Row("zero", header(t: "0"), .tooOld),
        Row("the test secret on the live endpoint", header(secret: "whsec_live"), .mismatch),
        Row("old and forged", "t=0,v1=\(forged)", .mismatch),
    ]

    @Test("only what Stripe signed with our secret, from these bytes, passes", arguments: w1)
    func passesOnlySigned(_ row: Row) {
        check(row)
        if let reason = row.reason {
            #expect(Stripe.WebhookSignature.Refusal(reason).code == "stripe_signature")
        }
    }

    @Test("only what was signed less than five minutes ago, or later, passes", arguments: w2)
    func time(_ row: Row) {
        check(row)
        if let reason = row.reason, reason != .mismatch {
            #expect(Stripe.WebhookSignature.Refusal(reason).code == "stripe_timestamp")
        }
    }

    @Test("a signature that OpenSSL made over t, a dot and the body passes")
    func knownVector() throws {
        // printf 1492774577.payload | openssl dgst -sha256 -hmac Jefe
        try Stripe.WebhookSignature.verify(
            header:
                "t=1492774577,v1=2b1543c33c4ff2034ef48e38f1c1fc1e6827f987940e33065a3896647195c4f3",
            body: Array("payload".utf8),
            secrets: ["Jefe"],
            now: 1_492_774_577
        )
    }

    @Test("the time of signing is given back")
    func timeOfSigning() throws {
        let time = try Stripe.WebhookSignature.verify(
            header: Self.header(t: "\(Self.now - 7)"),
            body: Array(Self.body.utf8),
            secrets: [Self.secret],
            now: Self.now
        )
        #expect(time == Self.now - 7)
    }

    private func check(_ row: Row) {
        var refusal: Stripe.WebhookSignature.Refusal?
        do throws(Stripe.WebhookSignature.Refusal) {
            try Stripe.WebhookSignature.verify(
                header: row.header,
                body: Array(row.body.utf8),
                secrets: row.secrets,
                now: Self.now
            )
        } catch {
            refusal = error
        }
        #expect(refusal?.reason == row.reason)
    }

    private static func swapped(_ hex: String) -> String {
        (hex.first == "0" ? "1" : "0") + hex.dropFirst()
    }
}
