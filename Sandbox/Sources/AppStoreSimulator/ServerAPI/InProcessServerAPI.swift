internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOEmbedded

/// The App Store Server API of a simulated store without a network between: the same routes, asked
/// in process.
public struct InProcessServerAPI: Sendable {
    /// What was answered to one request.
    public struct Exchange: Hashable, Sendable {
        public var status: Int
        /// Names in lower case.
        public var headers: [String: String]
        public var body: [UInt8]
    }

    private let responder: any HTTPResponder<BasicRequestContext>
    /// Only names a place to allocate from; it is never closed, so there is one.
    private static let channel = EmbeddedChannel()

    public init(_ store: SimulatedAppStore) {
        responder = store.router(surface: .serverAPI).buildResponder()
    }

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - path: with the query.
    ///   - headers: as they would be sent.
    public func exchange(
        method: String,
        path: String,
        headers: [String: String],
        body: [UInt8]
    ) async -> Exchange {
        var fields = HTTPFields()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let request = Request(
            head: HTTPRequest(
                method: HTTPRequest.Method(method) ?? .get,
                scheme: "https",
                authority: "app-store.test",
                path: path,
                headerFields: fields
            ),
            body: RequestBody(buffer: ByteBuffer(bytes: body))
        )
        let context = BasicRequestContext(
            source: ApplicationRequestContextSource(
                channel: Self.channel,
                logger: Logger(label: "app-store-simulator") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let collected = CollectedBody()
        do {
            let response = try await responder.respond(to: request, context: context)
            try await response.body.write(BodyWriter(body: collected))
            return Exchange(
                status: response.status.code,
                headers: Dictionary(
                    response.headers.map { ($0.name.canonicalName, $0.value) },
                    uniquingKeysWith: { first, _ in first }
                ),
                body: collected.bytes
            )
        } catch let error as any HTTPResponseError {
            guard let response = try? error.response(from: request, context: context) else {
                return Exchange(status: 500, headers: [:], body: [])
            }
            try? await response.body.write(BodyWriter(body: collected))
            return Exchange(
                status: response.status.code,
                headers: Dictionary(
                    response.headers.map { ($0.name.canonicalName, $0.value) },
                    uniquingKeysWith: { first, _ in first }
                ),
                body: collected.bytes
            )
        } catch {
            return Exchange(status: 500, headers: [:], body: [])
        }
    }
}

/// What a response's body comes to.
private final class CollectedBody: @unchecked Sendable {
    // Written by the one task that asked, before it reads.
    var bytes: [UInt8] = []
}

private struct BodyWriter: ResponseBodyWriter {
    let body: CollectedBody

    mutating func write(_ buffer: ByteBuffer) async throws {
        body.bytes += buffer.readableBytesView
    }

    consuming func finish(_: HTTPFields?) async throws {}
}
