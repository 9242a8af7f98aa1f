import Foundation

/// A request as the SDK makes it, before it is anybody's URLRequest.
struct HTTPRequest: Hashable, Sendable {
    var method: String
    var url: URL
    var headers: [String: String] = [:]
    var body: Data?
}

/// What came back.
struct HTTPResponse: Hashable, Sendable {
    var status: Int
    var body: Data
}

/// Request in, response out; throws only if there was no response.
typealias Transport = @Sendable (HTTPRequest) async throws -> HTTPResponse
