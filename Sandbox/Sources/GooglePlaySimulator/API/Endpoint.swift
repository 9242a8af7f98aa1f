/// One call of the Developer API.
struct Call: Hashable, Sendable {
    /// The parameters in the path: `token`, `productId`, ….
    var parameters: [String: String]
    var query: [(name: String, value: String)]
    var body: JSON?
    /// Virtual time.
    var now: Int64

    static func == (left: Call, right: Call) -> Bool {
        left.parameters == right.parameters && left.body == right.body && left.now == right.now
    }

    func hash(into hasher: inout Hasher) { hasher.combine(parameters) }

    func parameter(_ name: String) -> String { parameters[name] ?? "" }
    func first(_ name: String) -> String? { query.first { $0.name == name }?.value }
    func all(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    func number(_ name: String) throws(APIError) -> Int64? {
        guard let text = first(name) else { return nil }
        guard let number = Int64(text) else {
            throw .invalid("Invalid value at '\(name)': \"\(text)\".")
        }
        return number
    }

    /// The body, which must be a JSON object.
    var object: JSON {
        get throws(APIError) {
            guard let body else { return .object([:]) }
            guard case .object = body else { throw .invalid("Invalid JSON payload received.") }
            return body
        }
    }
}

/// Google's quota buckets.
///
/// https://developers.google.com/android-publisher/quotas
enum QuotaBucket: String, Hashable, Sendable, Codable {
    case subscriptions, subscriptionUpdates, oneTime, orders, external, monetization, voided

    /// Queries a minute.
    var perMinute: Int {
        switch self {
        case .external: 1200
        case .voided: 60
        case .subscriptions, .subscriptionUpdates, .oneTime, .orders, .monetization: 3000
        }
    }
}

/// One method of the Developer API, by its id in the discovery document.
struct Endpoint: Sendable {
    typealias Answer = @Sendable (Call, inout PlayStore) throws -> JSON?

    let id: String
    let method: String
    /// Below `/androidpublisher/v3/applications/{packageName}/`.
    let pattern: String
    let bucket: QuotaBucket
    var permission = ServiceAccount.Permission.viewApp
    /// `nil` answers 204.
    let answer: Answer

    static let all: [Endpoint] =
        SubscriptionEndpoints.all + ProductEndpoints.all + OrderEndpoints.all
        + ExternalEndpoints.all + CatalogEndpoints.all

    /// - Returns: the method at an address, and what its path names.
    static func find(_ method: String, _ path: [String]) -> (Endpoint, [String: String])? {
        for endpoint in all where endpoint.method == method {
            let wanted = endpoint.pattern.split(separator: "/").map(String.init)
            guard wanted.count == path.count else { continue }
            var parameters: [String: String] = [:]
            let fits = zip(wanted, path).allSatisfy { fit($0, $1, &parameters) }
            if fits { return (endpoint, parameters) }
        }
        return nil
    }

    /// `{token}:cancel` fits `abc:cancel`; `{token}` fits what has no verb.
    private static func fit(
        _ wanted: String,
        _ part: String,
        _ parameters: inout [String: String]
    ) -> Bool {
        guard wanted.hasPrefix("{"), let close = wanted.firstIndex(of: "}") else {
            return wanted == part
        }
        let name = String(wanted[wanted.index(after: wanted.startIndex)..<close])
        let verb = wanted[wanted.index(after: close)...]
        guard part.hasSuffix(verb), verb.isEmpty ? !part.contains(":") : true else { return false }
        let value = String(part.dropLast(verb.count))
        parameters[name] = value
        return !value.isEmpty
    }
}

/// The calls of each quota bucket in the current minute, and those for orders in the current day, of
/// real time.
struct Quotas: Hashable, Sendable {
    private var minute: Int64 = 0
    private var used: [QuotaBucket: Int] = [:]
    private var day: Int64 = 0
    private var ordersOfDay = 0

    /// - Parameter ordersPerDay: calls for orders in a day; 0: without limit.
    mutating func draw(
        _ bucket: QuotaBucket,
        seconds: Int64,
        ordersPerDay: Int = 0
    ) throws(APIError) {
        if seconds / 86_400 != day { (day, ordersOfDay) = (seconds / 86_400, 0) }
        if bucket == .orders, ordersPerDay > 0 {
            ordersOfDay += 1
            guard ordersOfDay <= ordersPerDay else { throw .rateLimited }
        }
        if seconds / 60 != minute { (minute, used) = (seconds / 60, [:]) }
        used[bucket, default: 0] += 1
        guard used[bucket, default: 0] <= bucket.perMinute else { throw .rateLimited }
    }
}
