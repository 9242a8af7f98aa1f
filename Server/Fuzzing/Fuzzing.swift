// What strangers send is read here by libFuzzer: no input may end the process, take long or much
// memory. `scripts/fuzz.sh` builds and runs this; it is one program, and TOLLGATE_FUZZ names the
// reader that is tried.
internal import Foundation
internal import StrictJSON
internal import StripeAPI
internal import TollgateAPI

@testable import AppStoreAPI
@testable import GooglePlayAPI

/// The readers, by name.
private let readers: [String: @Sendable ([UInt8]) -> Void] = [
    "signed_data": readSignedData,
    "chain": readChain,
    "receipt": readReceipt,
    "form": readForm,
    "signature": readSignature,
    "json": readJSON,
    "token": readToken,
    "catalog": readCatalog,
    "report": readReport,
    "play_hint": readPlayHint,
    "play_token": readPlayToken,
    "play_pull": readPlayPull,
    "play_error": readPlayError,
    "play_report": readPlayReport,
]

private let reader: @Sendable ([UInt8]) -> Void = {
    let name = ProcessInfo.processInfo.environment["TOLLGATE_FUZZ"] ?? ""
    guard let reader = readers[name] else {
        fatalError("TOLLGATE_FUZZ is one of \(readers.keys.sorted().joined(separator: ", "))")
    }
    return reader
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    reader(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// 2026-06-01.
private let now: Int64 = 1_780_272_000_000

private let root: [UInt8] = {
    let path = ProcessInfo.processInfo.environment["TOLLGATE_FUZZ_ROOT"] ?? ""
    return FileManager.default.contents(atPath: path).map { Array($0) } ?? []
}()

private func makeVerifier() -> AppStore.SignedDataVerifier {
    do {
        return try AppStore.SignedDataVerifier(
            roots: [root],
            bundleID: "com.example.app",
            appAppleID: nil,
            environments: [.sandbox]
        )
    } catch {
        fatalError("TOLLGATE_FUZZ_ROOT names no certificate: \(error)")
    }
}

private let verifier = makeVerifier()

/// The whole of a signed payload, then its parts as if the signature had been right.
private func readSignedData(_ bytes: [UInt8]) {
    _ = try? verifier.verifyNotification(signedPayload: bytes, now: now)
    _ = try? verifier.verifyTransaction(bytes, now: now)
    guard let json = try? JSON(bytes) else { return }
    _ = try? AppStore.Notification(json: json)
    _ = try? AppStore.Transaction(json: json)
    _ = try? AppStore.RenewalInfo(json: json)
}

/// Two certificates, their lengths first, below the root of the corpus.
private func readChain(_ bytes: [UInt8]) {
    guard bytes.count > 2 else { return }
    let split = min(bytes.count - 2, Int(bytes[0]) << 8 | Int(bytes[1]))
    let parts = [bytes[2..<(2 + split)], bytes[(2 + split)...]]
    let texts = parts.map { Data($0).base64EncodedString() } + [""]
    let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
    let header = Data("{\"alg\":\"ES256\",\"x5c\":[\(list)]}".utf8).base64EncodedString()
        .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
    let signature = String(repeating: "A", count: 86)
    // Another instant each time: unknown chains have a budget per second.
    instants += 1000
    _ = try? verifier.verifyTransaction(Array("\(header).e30.\(signature)".utf8), now: instants)
}

nonisolated(unsafe) private var instants = now

private func readReceipt(_ bytes: [UInt8]) {
    _ = try? AppStore.LocalReceipt(base64: Data(bytes).base64EncodedString())
    _ = try? AppStore.LocalReceipt(base64: String(decoding: bytes, as: UTF8.self))
}

/// Forms and the URLs that may stand in them.
private func readForm(_ bytes: [UInt8]) {
    _ = try? StrictBody.form(bytes)
    _ = try? StrictBody.customerSession(bytes, isForm: true)
    _ = try? StrictBody.customerSession(bytes, isForm: false)
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    if let address = try? WebhookAddress(text, allowsPrivate: false) {
        precondition(address.address?.isPublic ?? true, "a private address was let through")
        precondition(address.port == 443 || address.port == 8443)
        // Whoever reads it otherwise would send it somewhere else: so does the client read it.
        let other = URL(string: address.url)
        precondition(other?.user() == nil && other?.password() == nil)
        if let host = other?.host()?.trimmingCharacters(in: ["[", "]"]) {
            precondition(host == address.host, "two readers, two hosts")
        }
    }
}

private func readSignature(_ bytes: [UInt8]) {
    let header = String(decoding: bytes, as: UTF8.self)
    do {
        try Stripe.WebhookSignature.verify(
            header: header,
            body: bytes,
            secrets: ["whsec_fuzz"],
            now: now / 1000
        )
        preconditionFailure("nobody who has no secret can sign")
    } catch {}
    _ = try? Stripe.Event(bytes: bytes)
}

private func readJSON(_ bytes: [UInt8]) {
    guard let json = try? JSON(bytes) else { return }
    // What we take, everybody takes.
    precondition(String(validating: bytes, as: UTF8.self) != nil)
    touch(json)
}

private func touch(_ json: JSON) {
    _ = json.int64
    for element in json.elements { touch(element) }
    for (name, value) in json.members {
        precondition(json[named: name] != nil, "a member that is there is found")
        touch(value)
    }
}

private func readToken(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let token = JSONWebToken(compact: text) { _ = "\(token)" }
    _ = Base64URL.decode(text)
    _ = APIKeyKind(text)
    _ = try? APIJSON.decode(API.SignedAnswer.self, from: Data(bytes))
    _ = try? APIJSON.decode(APIError.self, from: Data(bytes))
}

private func readCatalog(_ bytes: [UInt8]) {
    _ = CatalogCheck(bytes: bytes, file: "catalog.yaml").text
}

/// A report of App Store Connect, packed or not.
private func readReport(_ bytes: [UInt8]) {
    if let report = try? AppStore.ConnectReport(bytes) { touch(report.rows.count) }
    if let plain = try? Inflate.gunzip(bytes, limit: 1 << 20) {
        precondition(plain.count <= 1 << 20, "the limit holds")
        _ = try? AppStore.ConnectReport(plain)
    }
}

/// The body of a push of Pub/Sub, wrapped or not, and what Google's API answers.
private func readPlayHint(_ bytes: [UInt8]) {
    guard let json = try? JSON(bytes) else { return }
    if let push = try? GooglePlay.PubSubMessage(push: json), let data = try? JSON(push.data) {
        _ = try? GooglePlay.DeveloperNotification(data)
    }
    _ = try? GooglePlay.DeveloperNotification(json)
    _ = try? GooglePlay.SubscriptionPurchase(json)
    _ = try? GooglePlay.ProductPurchase(json)
    _ = try? GooglePlay.Order(json)
    _ = try? GooglePlay.VoidedPurchases(json)
}

private let pushTokens = GooglePlay.PushTokenVerifier(
    audience: "https://billing.example.com/webhooks/google_play",
    serviceAccountEmail: "push@example.iam.gserviceaccount.com"
)

/// The token of a push: its header, and its claims as if the signature had been right.
private func readPlayToken(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    touch(GooglePlay.PushTokenVerifier.header(of: text)?.kid.utf8.count ?? 0)
    do { try pushTokens.check(claims: bytes, now: now / 1000) } catch { return }
    // Names that occur twice are read by Foundation's reader as it likes: one of them names us.
    guard let claims = try? JSON(bytes) else { return }
    precondition(claims["aud"]?.string == pushTokens.audience, "a token for somebody else")
    precondition(claims["email"]?.string == pushTokens.serviceAccountEmail, "a stranger's token")
    precondition(claims["email_verified"]?.bool == true, "an email that nobody verified")
}

/// What Pub/Sub answers a pull: each message is read as what is pushed.
private func readPlayPull(_ bytes: [UInt8]) {
    let subscription = "projects/p/subscriptions/s"
    guard let json = try? JSON(bytes),
        let pulled = try? GooglePlay.PulledMessages(json, of: subscription)
    else { return }
    for message in pulled.messages {
        guard let body = try? JSON(message.body) else { continue }
        guard let push = try? GooglePlay.PubSubMessage(push: body) else { continue }
        precondition(push.subscription == subscription, "a message of another subscription")
        guard let data = try? JSON(push.data) else { continue }
        _ = try? GooglePlay.DeveloperNotification(data)
    }
}

/// An error in place of an answer: in the first line the endpoint's number, the status and
/// `Retry-After`, then the body.
private func readPlayError(_ bytes: [UInt8]) {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    let line = String(decoding: bytes[..<end], as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, let status = Int(words[1]) else { return }
    let endpoints: [GooglePlay.APIFault.Endpoint] = [.publisher, .token, .pubSub, .storage]
    let endpoint = endpoints[Int(words[0].utf8.first ?? 0) % endpoints.count]
    let refusal = GooglePlay.APIFault.Refusal(
        GooglePlay.HTTPResponse(
            status: status,
            headers: ["Retry-After": String(words[2]), "Date": "Mon, 01 Jun 2026 00:00:00 GMT"],
            body: Array(bytes[end...].dropFirst())
        ),
        of: endpoint
    )
    precondition((0...86_400).contains(refusal.retryAfter ?? 0), "a day at most")
    // Nothing is settled by a page of somebody between us and Google.
    if !refusal.isGoogles {
        precondition(![.notFound, .noLongerReadable].contains(refusal.meaning))
    }
    // Nor by a service account that is refused, or by trouble at Google's.
    if status == 401 { precondition(refusal.meaning == .notAllowed) }
    if (500...599).contains(status) { precondition(refusal.meaning == .unavailable) }
    touch("\(GooglePlay.APIFault(operation: "fuzz", cause: .refused(refusal)))".utf8.count)
}

/// A report of the Play Console, packed or not, as each kind.
private func readPlayReport(_ bytes: [UInt8]) {
    let limit = 1 << 20
    if let files = try? ZipArchive.files(bytes, limit: limit) {
        let count = files.map(\.contents.count).reduce(0, +)
        precondition(count <= limit, "the limit holds for all files together")
    }
    for kind in GooglePlay.Report.Kind.allCases {
        _ = try? GooglePlay.Report(bytes, named: "\(kind.prefix)x_202605.csv")
    }
}

/// Keeps what was read from being optimised away.
@inline(never)
private func touch(_ count: Int) {}
