import Foundation
import GooglePlayAPI
import GooglePlayConnector
import GooglePlaySimulator
import Stores
import Synchronization
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService

extension ScenarioCustomer {
    /// In which environments the customer's purchases are.
    var environments: [StoreEnvironment] {
        if isInBothEnvironments { return StoreEnvironment.allCases }
        return [isProduction ? .production : .sandbox]
    }
}

extension TollgateBackend {
    func connect(
        _ play: SimulatedGooglePlay,
        read: @escaping @Sendable (GooglePlayReading) async -> Void
    ) async {
        googlePlayLine.connect(play, read)
    }

    /// From now on `play` answers, and nobody is told what is read.
    func connect(_ play: SimulatedGooglePlay) {
        googlePlayLine.connect(play) { _ in }
    }

    func take(hint body: [UInt8]) async -> Bool {
        googlePlayLine.planting?.hear(body)
        // As pulled: the token of a push costs a signature each.
        return (try? await tollgate.googlePlay.receive(ReceivedMessage(body, .fetched))) != nil
    }

    func take(push body: [UInt8], authorization: String) async -> Bool? {
        let message = ReceivedMessage(body, .delivered(signature: authorization))
        return (try? await tollgate.googlePlay.receive(message)) != nil
    }

    func post(_ purchase: GooglePlayPosting, by customer: ScenarioCustomer) async throws {
        let id = Customer.ID(try await tollgate.directory.customer(customer.id).id)
        do {
            _ = try await tollgate.googlePlay.devices.receive(
                API.GooglePlayPurchaseRequest(
                    purchaseToken: purchase.token,
                    kind: purchase.isSubscription ? .subscription : .oneTime,
                    mode: API.SubmissionMode(rawValue: purchase.mode) ?? .observed
                ),
                from: id,
                in: package
            )
        } catch let refusal as Refusal where [404, 409, 429].contains(refusal.status) {
            // Somebody else's purchase, one of the past, or too many: an answer, which the next check
            // looks at.
        } catch is any StoreFault {
            // Google Play is away. The app tries again, if the story says so.
        }
    }

    /// Reads what hints are about.
    ///
    /// A question waits for ten minutes at most, so what was refused before is asked again.
    func readHints() async {
        _ = await GooglePlayLine.$later.withValue(googlePlayLine.later(by: 700)) {
            await tollgate.googlePlay.askWhatIsWanted()
        }
    }

    /// Reads what hints are about and what they did not tell, and does what has a deadline.
    ///
    /// Questions that wait do so by real time, so that goes by meanwhile.
    func readGooglePlay(isWhole: Bool = false) async {
        for _ in 0..<2 {
            await GooglePlayLine.$later.withValue(googlePlayLine.nextRound()) {
                _ = await tollgate.fetchWanted()
            }
        }
        await GooglePlayLine.$later.withValue(googlePlayLine.nextRound()) {
            if isWhole {
                _ = try? await tollgate.googlePlay.reconcile()
            } else {
                _ = try? await tollgate.googlePlay.reconcileIfDue()
            }
            _ = await tollgate.fetchWanted()
        }
    }
}

/// Tollgate's line to Google Play's Developer API, in process.
final class GooglePlayLine: Sendable {
    /// Seconds by which real time is later than in the rest of a story.
    @TaskLocal static var later: Int64 = 0

    private struct Seat {
        weak var play: SimulatedGooglePlay?
        var read: (@Sendable (GooglePlayReading) async -> Void)?
        var later: Int64 = 0
    }

    /// A mistake of the server's.
    let planting: GooglePlayPlanting?
    private let seat = Mutex(Seat())

    init(_ planting: GooglePlayPlanting? = nil) { self.planting = planting }

    func connect(
        _ play: SimulatedGooglePlay,
        _ read: @escaping @Sendable (GooglePlayReading) async -> Void
    ) {
        seat.withLock { ($0.play, $0.read) = (play, read) }
    }

    /// A third of the time between two passes.
    ///
    /// Passes lie at most ten minutes apart: a server that was away for longer reads everything again, and
    /// would know what nobody told it.
    func nextRound() -> Int64 { later(by: 190) }

    /// Lets real time go by.
    func later(by seconds: Int64) -> Int64 {
        seat.withLock { seat in
            seat.later += seconds
            return seat.later
        }
    }

    func setUp(of package: String?) async throws -> GooglePlaySetUp {
        guard let package else { return GooglePlaySetUp() }
        let client = GooglePlay.Client(
            packageName: package,
            apiBase: "https://google-play.test",
            tokens: try await GooglePlayAccess.tokens(),
            transport: { [self] in try await send($0) }
        )
        let pushTokens = GooglePlay.PushTokens(
            GooglePlay.PushTokenVerifier(
                audience: GooglePlayAccess.audience,
                serviceAccountEmail: try await GooglePlayAccess.account().email
            ),
            keysURL: "https://google-play.test/oauth2/v3/certs",
            transport: { [self] in try await send($0) },
            now: { Int64(Date().timeIntervalSince1970) }
        )
        return GooglePlaySetUp(
            apps: [GooglePlaySetUp.App(client: client)],
            pushTokens: pushTokens
        )
    }

    private func send(_ request: GooglePlay.HTTPRequest) async throws -> GooglePlay.HTTPResponse {
        guard let play = seat.withLock({ $0.play }) else { throw CancellationError() }
        let target = String(request.url.dropFirst("https://google-play.test".count))
        let reply = await self.reply(to: request, target, of: play)
        if request.method == "GET", let reading = Self.reading(target, reply) {
            await seat.withLock({ $0.read })?(reading)
        }
        return GooglePlay.HTTPResponse(
            status: reply.status,
            headers: reply.headers,
            body: Array(reply.body)
        )
    }

    /// The answer of Google Play, as a mistaken server takes it.
    private func reply(
        to request: GooglePlay.HTTPRequest,
        _ target: String,
        of play: SimulatedGooglePlay
    ) async -> SimulatedGooglePlay.Reply {
        if let other = planting?.reply(instead: request.method, target) { return other }
        let answer = await play.reply(
            to: request.method,
            target,
            authorization: request.headers["Authorization"],
            body: Data(request.body ?? [])
        )
        return planting?.alter(answer, to: target) ?? answer
    }

    /// The reading that an answer is; `nil`: none.
    private static func reading(
        _ target: String,
        _ reply: SimulatedGooglePlay.Reply
    ) -> GooglePlayReading? {
        let parts = target.split(separator: "?")[0].split(separator: "/").map(String.init)
        let answer = "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))"
        if parts.last == "voidedpurchases" {
            return GooglePlayReading(isSubscription: nil, token: "", answer: answer)
        }
        guard parts.count > 2, parts[parts.count - 2] == "tokens",
            let token = parts.last?.removingPercentEncoding
        else {
            return parts.contains("orders")
                ? GooglePlayReading(isSubscription: nil, token: parts.last ?? "", answer: answer)
                : nil
        }
        return GooglePlayReading(
            isSubscription: parts.contains("subscriptionsv2"),
            token: token,
            answer: answer
        )
    }
}
