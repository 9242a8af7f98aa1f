import Foundation

/// One HTTP request, as far as Google's APIs look at it.
struct Exchange: Sendable {
    var method: String
    /// Its segments, decoded.
    var path: [String]
    var query: [(name: String, value: String)]
    var authorization: String?
    /// The server's address as the client named it: `http://127.0.0.1:8083`.
    var origin: String
    var body: Data

    /// UNIX seconds of real time.
    var seconds: Int64 { Int64(Date().timeIntervalSince1970) }

    /// - Parameter target: path and query as they were sent.
    init(method: String, target: String, authorization: String?, origin: String, body: Data) {
        self.method = method
        self.authorization = authorization
        self.origin = origin
        self.body = body
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = (parts.first ?? "").split(separator: "/").map(Self.decoded)
        query = parts.count > 1 ? Self.form(String(parts[1])) : []
    }

    /// `name=value&…`, as in queries and forms.
    static func form(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? sides[1] : ""
            return (decoded(spaced(sides[0])), decoded(spaced(value)))
        }
    }

    /// A question too long for an address is posted as a form, and says so.
    mutating func becomeGet() {
        method = "GET"
        query += Self.form(String(decoding: body, as: UTF8.self))
        body = Data()
    }

    func first(_ name: String) -> String? { query.first { $0.name == name }?.value }

    private static func spaced(_ text: Substring) -> Substring {
        Substring(text.replacingOccurrences(of: "+", with: " "))
    }

    private static func decoded(_ text: Substring) -> String {
        String(text).removingPercentEncoding ?? String(text)
    }
}

/// The response.
struct Answer: Sendable {
    var status = 200
    var body = Data()
    var type = "application/json; charset=UTF-8"
    var headers: [(name: String, value: String)] = []

    static func json(_ json: JSON, status: Int = 200) -> Answer {
        Answer(status: status, body: json.bytes + Data("\n".utf8))
    }

    static let nothing = Answer(status: 204)

    static func error(_ error: APIError) -> Answer {
        var answer = json(error.wire, status: error.code)
        if let seconds = error.retryAfter { answer.headers.append(("Retry-After", "\(seconds)")) }
        return answer
    }
}
