public import Foundation
public import SandboxClock

extension SimulatedGooglePlay {
    /// Takes the body of one push in this process, and says whether it was accepted.
    public typealias Deliver = @Sendable (_ body: Data) async -> Bool

    /// The keys of one store; making them takes longer than anything else.
    struct Keys: Hashable, Sendable, Codable {
        var google: GoogleKeys
        var account: ServiceAccount
        var licence: SigningIdentity

        /// - Parameter usesOneKey: one key for all, which is made sooner.
        init(
            project: String,
            usesOneKey: Bool = false,
            using random: inout SeededRandom
        ) throws {
            licence = try SigningIdentity.make(commonName: "licence", keyID: "licence")
            google = try usesOneKey ? GoogleKeys(licence) : GoogleKeys(using: &random)
            account = try ServiceAccount(
                project: project,
                identity: usesOneKey ? licence : nil,
                using: &random
            )
        }
    }

    /// Makes keys that any number of stores in this process can share.
    ///
    /// - Throws: where they cannot be made.
    public static func makeKeys(project: String = "sandbox", seed: UInt64 = 1) throws -> Data {
        var random = SeededRandom(seed: seed)
        return try JSONEncoder().encode(Keys(project: project, using: &random))
    }

    /// The key file of the service account among `keys`, whose tokens come from `tokenURL`.
    ///
    /// - Throws: where `keys` are not those of `makeKeys`.
    public static func serviceAccountFile(ofKeys keys: Data, tokenURL: String) throws -> Data {
        try JSONDecoder().decode(Keys.self, from: keys).account.file(tokenURL: tokenURL).bytes
    }

    /// Opens a store that pushes to `deliver`, without HTTP and so without tokens.
    ///
    /// The caller lets it join `clock`.
    ///
    /// - Throws: when the catalog or the keys cannot be read.
    public init(
        configuration: Configuration,
        clock: VirtualClock,
        deliver: @escaping Deliver
    ) throws {
        var configuration = configuration
        configuration.pushEndpoint = "https://server.test/webhooks/google_play"
        try self.init(
            configuration: configuration,
            clock: clock,
            push: { request in
                await deliver(request.body) ? .accepted : .failed("The server did not take it.")
            },
            signsPushes: false
        )
    }

    /// The answer to a request that came without HTTP.
    public struct Reply: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: Data

        public init(status: Int, headers: [String: String] = [:], body: Data) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    /// Answers one request: of Google's APIs, or of the control API under `/sandbox`.
    ///
    /// - Parameter target: path and query.
    public nonisolated func reply(
        to method: String,
        _ target: String,
        authorization: String? = nil,
        body: Data = Data()
    ) async -> Reply {
        let exchange = Exchange(
            method: method,
            target: target,
            authorization: authorization,
            origin: "https://google-play.test",
            body: body
        )
        let answer = await answer(exchange, surface: .everything)
        return Reply(
            status: answer.status,
            headers: Dictionary(
                answer.headers.map { ($0.name, $0.value) },
                uniquingKeysWith: { first, _ in first }
            ),
            body: answer.body
        )
    }

    /// The present, in UNIX milliseconds.
    public nonisolated var now: Int64 { clock.nowAtOnce }

    /// Returns once what calls of the Developer API have announced was delivered.
    public func settle() async {
        await deliver(at: clock.nowAtOnce)
    }
}
