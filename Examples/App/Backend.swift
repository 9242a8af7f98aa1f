import BillingSDK
import Foundation

/// The app's own backend, as `Examples/Backend` serves it.
struct Backend: Sendable {
    /// Where it runs.
    let url: URL

    struct Unexpected: Error { let status: Int }

    /// Signs in; a real app would send a password or a passkey.
    func login(name: String) async throws -> String {
        struct Body: Encodable { let name: String }
        struct Reply: Decodable { let token: String }
        let body = try JSONEncoder().encode(Body(name: name))
        let (status, data) = try await send("POST", "/login", token: nil, body: body)
        guard status == 200 else { throw Unexpected(status: status) }
        return try JSONDecoder().decode(Reply.self, from: data).token
    }

    /// A session for whoever `token` belongs to; nil only if the backend says: nobody.
    ///
    /// What fails is thrown: a backend that is out of reach is no sign-out.
    func customerSession(token: String) async throws -> UBCustomerSessionDetails? {
        let (status, data) = try await send("POST", "/customer-session", token: token)
        switch status {
        case 200:
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return try decoder.decode(UBCustomerSessionDetails.self, from: data)
        case 401: return nil
        default: throw Unexpected(status: status)
        }
    }

    /// A page on which a pack of coins is bought for whoever `token` belongs to.
    func checkout(token: String) async throws -> URL {
        struct Reply: Decodable { let url: URL }
        var query = URLComponents()
        query.queryItems = [URLQueryItem(name: "token", value: token)]
        let path = "/create-checkout-session?" + (query.percentEncodedQuery ?? "")
        let (status, data) = try await send("POST", path, token: nil)
        guard status == 200 else { throw Unexpected(status: status) }
        return try JSONDecoder().decode(Reply.self, from: data).url
    }

    private func send(
        _ method: String,
        _ path: String,
        token: String?,
        body: Data? = nil
    ) async throws -> (Int, Data) {
        guard let url = URL(string: url.absoluteString + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Bearer " + token, forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }
}
