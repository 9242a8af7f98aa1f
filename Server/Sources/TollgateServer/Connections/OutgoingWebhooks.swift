internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
public import TollgateService

/// Carries webhooks over HTTP to exactly the peer that was looked at.
///
/// A name is resolved and judged first, and the connection then goes to that address, not to the
/// name: whoever owns the name cannot lead it somewhere else in between. Certificates are still
/// checked against the name.
public actor OutgoingWebhooks {
    /// Finds the addresses of a name.
    public typealias Resolve = @Sendable (_ host: String) async throws -> [IPAddress]

    private let lookups: HostLookups
    private let timeout: Duration
    /// One for each host and address, so that connections are kept.
    private var clients: KeptOpen<HTTPClient>

    /// Read of an answer at most; its text is of no interest.
    private static let maximalAnswer = 64 << 10

    /// - Parameters:
    ///   - timeout: for one request from its beginning to the end of the answer.
    ///   - lookupTimeout: how much of that may be spent on finding the host's addresses.
    ///   - maximalClients: to how many hosts connections are kept; more only while requests to more
    ///     are under way.
    public init(
        timeout: Duration = .seconds(15),
        lookupTimeout: Duration = .seconds(5),
        maximalClients: Int = 32,
        resolve: @escaping Resolve = OutgoingWebhooks.resolveBySystem
    ) {
        self.timeout = timeout
        lookups = HostLookups(waitingFor: min(lookupTimeout, timeout), resolve)
        clients = KeptOpen(limit: maximalClients)
    }

    /// - Throws: `WebhookRefused`, or why there was no answer.
    public func send(_ request: WebhookRequest) async throws -> WebhookResponse {
        let end = ContinuousClock.now + timeout
        let address = request.address
        let found =
            if let literal = address.address {
                [literal]
            } else {
                try await lookups.addresses(of: address.host)
            }
        // Under another name the client would not find the peer, and would ask for one itself.
        let read = URL(string: address.url)?.host()?.trimmingCharacters(in: ["[", "]"])
        guard read == address.host else {
            throw WebhookRefused(reason: "the host is spelled in two ways")
        }
        let peer = try WebhookAddress.peer(among: found, allowsPrivate: request.allowsPrivate)
        let key = "\(address.host) \(peer)"
        let client = clients.take(key) { Self.client(to: address.host, at: peer) }
        defer { clients.giveBack(key) }
        for idle in clients.surplus() { try? await idle.shutdown() }
        var outgoing = HTTPClientRequest(url: address.url)
        outgoing.method = .POST
        for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
        outgoing.body = .bytes(request.body)
        return try await Self.send(outgoing, over: client, until: end)
    }

    /// Ends what is kept open.
    public func shutdown() async {
        for client in clients.removeAll() { try? await client.shutdown() }
    }

    private static func client(to host: String, at peer: IPAddress) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(15))
        )
        configuration.dnsOverride = [host: "\(peer)"]
        configuration.httpVersion = .http1Only
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func send(
        _ request: HTTPClientRequest,
        over client: HTTPClient,
        until end: ContinuousClock.Instant
    ) async throws -> WebhookResponse {
        try await withThrowingTaskGroup(of: WebhookResponse?.self) { group in
            group.addTask {
                let response = try await client.execute(request, timeout: .seconds(60))
                let answer = WebhookResponse(
                    status: Int(response.status.code),
                    retryAfter: response.headers.first(name: "retry-after")
                )
                // Read to its end, so that the connection can be used again; unless it is long.
                var count = 0
                do {
                    for try await part in response.body {
                        count += part.readableBytes
                        if count > maximalAnswer { break }
                    }
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    // The status was said; that is what counts.
                }
                return answer
            }
            group.addTask {
                try await Task.sleep(until: end, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let answer = first else {
                throw WebhookRefused(reason: "no answer in time")
            }
            return answer
        }
    }

    /// Asks the system, on a thread that may wait.
    public static let resolveBySystem: Resolve = { host in
        try await NIOThreadPool.singleton.runIfActive {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(host, nil, &hints, &list) == 0 else {
                throw WebhookRefused(reason: "the host has no address")
            }
            defer { freeaddrinfo(list) }
            var found: [IPAddress] = []
            var next = list
            while let entry = next {
                if let address = IPAddress(entry.pointee) { found.append(address) }
                next = entry.pointee.ai_next
            }
            return found
        }
    }
}

extension IPAddress {
    fileprivate init?(_ entry: addrinfo) {
        guard let address = entry.ai_addr else { return nil }
        // Where `sockaddr_in` and `sockaddr_in6` have the address (RFC 3493 §3.3).
        let place: Range<Int>
        switch entry.ai_family {
        case AF_INET: place = 4..<8
        case AF_INET6: place = 8..<24
        default: return nil
        }
        guard Int(entry.ai_addrlen) >= place.upperBound else { return nil }
        let bytes = UnsafeRawBufferPointer(start: address, count: place.upperBound)
        self.init(bytes: Array(bytes[place]))
    }
}
