import Foundation
import GooglePlayAPI
import GooglePlayConnector
import GooglePlaySimulator
import SandboxClock
import Stores
import Synchronization
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

// Google Play: its notifications, its API, and the app that shows purchases.
extension SimulatedServer {
    func connect(
        _: SimulatedGooglePlay,
        read _: @escaping @Sendable (GooglePlayReading) async -> Void
    ) async {
        // It is met with the other stores.
    }

    /// A notification on its way: it may get lost, come twice, or days late.
    func take(hint body: [UInt8]) async -> Bool {
        let trouble = parts.fate.trouble
        if strikesGooglePlay(trouble.lost) { return true }
        if strikesGooglePlay(trouble.late) {
            let present = stores.withLock { $0?.clock.nowAtOnce } ?? 0
            let due = present + 1000 + Int64(parts.playFate.below(864_000_000))
            state.withLock { $0.late.append((due, .hint(body))) }
            return true
        }
        lag.hear(body, at: stores.withLock { $0?.clock.nowAtOnce } ?? 0)
        let isTaken = await hand(.hint(body))
        if strikesGooglePlay(trouble.twice) { _ = await hand(.hint(body)) }
        return isTaken && !strikesGooglePlay(trouble.unanswered)
    }

    /// Returns `true` if a fault strikes, drawn apart from faults elsewhere.
    private func strikesGooglePlay(_ share: Double) -> Bool {
        !parts.fate.isHealed && parts.playFate.strikes(share)
    }

    /// - Throws: `ServerDown`; the app shows it again another day.
    func post(_ purchase: GooglePlayPosting, by customer: ScenarioCustomer) async throws {
        if isDown { throw ServerDown() }
        do {
            _ = try await insist { tollgate, _ in
                let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
                _ = try await tollgate.googlePlay.devices.receive(
                    API.GooglePlayPurchaseRequest(
                        purchaseToken: purchase.token,
                        kind: purchase.isSubscription ? .subscription : .oneTime,
                        mode: API.SubmissionMode(rawValue: purchase.mode) ?? .observed
                    ),
                    from: id
                )
                return true
            }
        } catch let refusal as Refusal where [404, 409].contains(refusal.status) {
            // A purchase of the past, or somebody else's: an answer.
            return
        }
        note(purchase.token, shownBy: customer)
    }

    /// Looks for what Google Play's notifications did not tell.
    func lookIntoGooglePlay() async throws {
        _ = try await tollgate.googlePlay.reconcileIfDue()
    }

    // MARK: - The API

    private struct NoAnswer: Error {}

    /// The connections to Google Play; none where nobody has bought there.
    func googlePlaySetUp(_ stores: Stores) -> GooglePlaySetUp {
        guard let play = stores.googlePlay, let tokens = stores.googlePlayTokens else {
            return GooglePlaySetUp()
        }
        let client = GooglePlay.Client(
            packageName: ScenarioWorld.bundleID,
            apiBase: "https://google-play.test",
            tokens: tokens,
            transport: { [self] in try await askGooglePlay($0, play) }
        )
        return GooglePlaySetUp(apps: [GooglePlaySetUp.App(client: client)])
    }

    private func askGooglePlay(
        _ request: GooglePlay.HTTPRequest,
        _ play: SimulatedGooglePlay
    ) async throws -> GooglePlay.HTTPResponse {
        if incidents.isRefusedByGooglePlay(at: play.now) {
            let body = #"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"No."}}"#
            return GooglePlay.HTTPResponse(status: 401, body: Array(body.utf8))
        }
        let answersReview = request.url.hasSuffix(":reviewrefund")
        let fate = answersReview ? apart : parts.playFate
        let fails = !parts.fate.isHealed && fate.strikes(fate.trouble.unavailable)
        let how = fails ? fate.below(4) : 4
        switch how {
        case 0:
            let body = #"{"error":{"code":429,"message":"Too many."}}"#
            return GooglePlay.HTTPResponse(status: 429, body: Array(body.utf8))
        case 1: return GooglePlay.HTTPResponse(status: 500, body: Array("{}".utf8))
        case 2: throw NoAnswer()
        default: break
        }
        let reply = await play.reply(
            to: request.method,
            String(request.url.dropFirst("https://google-play.test".count)),
            authorization: request.headers["Authorization"],
            body: Data(request.body ?? [])
        )
        let said = String(decoding: reply.body, as: UTF8.self)
        if answersReview, said.contains("INVALID_ARGUMENT") {
            object("a refund review is answered wrongly: \(said)")
        }
        let target = request.method == "GET" ? request.url : nil
        if let target, parts.fate.trouble.late > 0,
            let earlier = lag.read(target, reply, at: play.now, lags: { strikesGooglePlay(0.3) })
        {
            return earlier
        }
        let body = Array(reply.body)
        return GooglePlay.HTTPResponse(
            status: reply.status,
            headers: reply.headers,
            body: how == 3 ? Array(body.prefix(body.count / 2)) : body
        )
    }
}

/// Reads that lag behind the notifications that led to them, for a minute.
final class ReadLag: Sendable {
    private struct State {
        /// The time of the newest notification about each purchase.
        var heard: [String: Int64] = [:]
        /// The newest answer about each address.
        var answers: [String: GooglePlay.HTTPResponse] = [:]
    }

    private let state = Mutex(State())

    func hear(_ body: [UInt8], at now: Int64) {
        let push = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let text = (push?["message"] as? [String: Any])?["data"] as? String
        guard let data = text.flatMap({ Data(base64Encoded: $0) }),
            let hint = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        else { return }
        for case let named as [String: Any] in hint.values {
            guard let token = named["purchaseToken"] as? String else { continue }
            state.withLock { $0.heard[token] = now }
        }
    }

    /// The answer of before, if it lags; else the present one is kept.
    func read(
        _ target: String,
        _ reply: SimulatedGooglePlay.Reply,
        at now: Int64,
        lags: () -> Bool
    ) -> GooglePlay.HTTPResponse? {
        let token = target.split(separator: "/").last.map(String.init) ?? ""
        let known = state.withLock { $0.answers[target] }
        let heard = state.withLock { $0.heard[token] } ?? .min
        if let known, heard > now - 60_000, lags() { return known }
        let present = GooglePlay.HTTPResponse(
            status: reply.status,
            headers: reply.headers,
            body: Array(reply.body)
        )
        state.withLock { $0.answers[target] = present }
        return nil
    }
}
