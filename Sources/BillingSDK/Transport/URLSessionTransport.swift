import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport of an app: a URLSession of its own, without cookies or cache.
final class URLSessionTransport: Sendable {
    private let session: URLSession

    private init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 15
        configuration.timeoutIntervalForResource = 30
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(
            configuration: configuration,
            delegate: RefusesRedirects(),
            delegateQueue: nil
        )
    }

    /// The closure that the client calls; it keeps the session alive.
    static func make() -> Transport {
        let transport = URLSessionTransport()
        return { try await transport.send($0) }
    }

    deinit { session.finishTasksAndInvalidate() }

    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        for (name, value) in request.headers {
            urlRequest.setValue(value, forHTTPHeaderField: name)
        }
        let (body, response) = try await session.data(for: urlRequest)
        guard let response = response as? HTTPURLResponse else {
            throw URLError(.badServerResponse)
        }
        return HTTPResponse(status: response.statusCode, body: body)
    }
}

/// The API never redirects; following one would carry a session's secret to another host.
private final class RefusesRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
