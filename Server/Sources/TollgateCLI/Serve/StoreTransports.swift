import AppStoreAPI
import AsyncHTTPClient
import CommandOutput
import GooglePlayAPI
import NIOCore
import NIOHTTP1
import StripeAPI

/// HTTP over the shared client: an answer within a minute, or an error.
func appStoreTransport(over client: HTTPClient) -> AppStore.Transport {
    let exchange = Exchange(client: client, time: .seconds(60), limit: 64 << 20)
    return { ask in
        let (status, headers, body) = try await exchange(ask.method, ask.url, ask.headers, ask.body)
        return AppStore.HTTPResponse(status: status, headers: headers, body: body)
    }
}

/// The same for Stripe, within 30 seconds.
func transport(over client: HTTPClient) -> Stripe.Client.Transport {
    let exchange = Exchange(client: client, time: .seconds(30), limit: 4 << 20)
    return { ask in
        let sent = ask.body.isEmpty ? nil : ask.body
        let method = ask.method.rawValue
        let (status, headers, body) = try await exchange(method, ask.url, ask.headers, sent)
        return Stripe.Response(status: status, headers: headers, body: body)
    }
}

/// The same for Google.
func googlePlayTransport(
    over client: HTTPClient,
    within time: TimeAmount,
    upTo limit: Int = 16 << 20
) -> GooglePlay.Transport {
    let exchange = Exchange(client: client, time: time, limit: limit)
    return { ask in
        let (status, headers, body) = try await exchange(ask.method, ask.url, ask.headers, ask.body)
        return GooglePlay.HTTPResponse(status: status, headers: headers, body: body)
    }
}

/// Why no answer came, in words.
private struct NoAnswer: Error, CustomStringConvertible {
    let description: String
}

/// One request and its answer.
private struct Exchange: Sendable {
    let client: HTTPClient
    let time: TimeAmount
    /// The most bytes of an answer.
    let limit: Int

    func callAsFunction(
        _ method: String,
        _ url: String,
        _ headers: [String: String],
        _ body: [UInt8]?
    ) async throws -> (Int, [String: String], [UInt8]) {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        do {
            let response = try await client.execute(request, timeout: time)
            let bytes = try await response.body.collect(upTo: limit)
            let fields = response.headers.map { ($0.name, $0.value) }
            return (
                Int(response.status.code),
                Dictionary(fields, uniquingKeysWith: { first, _ in first }),
                Array(bytes.readableBytesView)
            )
        } catch let error as CancellationError {
            throw error
        } catch {
            throw NoAnswer(description: PlainWords.of(error))
        }
    }
}
