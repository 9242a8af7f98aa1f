import StrictJSON
import TextFormats

extension GooglePlay {
    /// Calls the Play Developer API for one app, once per call: pauses and repetitions are the
    /// caller's, who knows the quotas.
    public struct Client: Sendable {
        /// The app: `com.example.app`.
        public let packageName: String
        private let apiBase: String
        private let tokens: AccessTokens
        private let transport: Transport

        /// - Parameter apiBase: The API's address without a path.
        public init(
            packageName: String,
            apiBase: String = "https://androidpublisher.googleapis.com",
            tokens: AccessTokens,
            transport: @escaping Transport
        ) {
            self.packageName = packageName
            self.apiBase = apiBase.hasSuffix("/") ? String(apiBase.dropLast()) : apiBase
            self.tokens = tokens
            self.transport = transport
        }

        /// An answer, with Google's clock.
        public struct Answer<Value: Sendable>: Sendable {
            public var value: Value
            /// The header `Date`, as it came.
            ///
            /// A read states the purchase as of the second before (`RULES.md` §4): Google's objects
            /// carry no version.
            public var date: String?
            public var body: [UInt8]

            /// UNIX seconds by Google's clock; `nil` where the answer has no readable `Date`.
            public var seconds: Int64? { date.flatMap(HTTPDate.seconds(of:)) }
        }

        // MARK: - Purchases

        /// `purchases.subscriptionsv2.get`.
        public func subscription(
            _ token: String
        ) async throws(APIFault) -> Answer<SubscriptionPurchase> {
            try await get(
                "purchases.subscriptionsv2.get",
                ["purchases", "subscriptionsv2", "tokens", token]
            ) {
                json throws(DecodingError) in try SubscriptionPurchase(json)
            }
        }

        /// `purchases.productsv2.getproductpurchasev2`.
        public func product(_ token: String) async throws(APIFault) -> Answer<ProductPurchase> {
            try await get(
                "purchases.productsv2.getproductpurchasev2",
                ["purchases", "productsv2", "tokens", token]
            ) {
                json throws(DecodingError) in try ProductPurchase(json)
            }
        }

        /// `purchases.subscriptions.acknowledge`.
        ///
        /// - Parameter account: Set for a subscription that was bought outside the app only.
        public func acknowledgeSubscription(
            _ token: String,
            product: String,
            account: String? = nil
        ) async throws(APIFault) {
            let ids = account.map {
                JSONText.object([("obfuscatedAccountId", .string($0))])
            }
            try await post(
                "purchases.subscriptions.acknowledge",
                ["purchases", "subscriptions", product, "tokens", token],
                verb: "acknowledge",
                .object([("externalAccountIds", ids)])
            )
        }

        /// `purchases.products.acknowledge`.
        public func acknowledgeProduct(
            _ token: String,
            product: String
        ) async throws(APIFault) {
            try await post(
                "purchases.products.acknowledge",
                ["purchases", "products", product, "tokens", token],
                verb: "acknowledge",
                .object([])
            )
        }

        /// `purchases.products.consume`; it acknowledges too.
        public func consume(_ token: String, product: String) async throws(APIFault) {
            try await post(
                "purchases.products.consume",
                ["purchases", "products", product, "tokens", token],
                verb: "consume",
                nil
            )
        }

        // MARK: - Orders and voided purchases

        /// `orders.get`.
        public func order(_ id: String) async throws(APIFault) -> Answer<Order> {
            try await get("orders.get", ["orders", id]) { json throws(DecodingError) in
                try Order(json)
            }
        }

        /// `orders.batchGet`: up to 1,000 different orders in one call.
        ///
        /// One id that Google does not know fails the whole call.
        ///
        /// - Returns: the orders, each as `orders.get` answers it.
        public func orders(_ ids: [String]) async throws(APIFault) -> [Answer<Order>] {
            let answer = try await get(
                "orders.batchget",
                ["orders"],
                verb: "batchGet",
                ids.map { ("orderIds", $0) }
            ) { json throws(DecodingError) in
                try Fields(json, "BatchGetOrdersResponse").list("orders") {
                    order throws(DecodingError) in try Order(order.json)
                }
            }
            return answer.value.map { order in
                Answer(value: order, date: answer.date, body: Array(order.json.rawBytes))
            }
        }

        /// `purchases.voidedpurchases.list`: one page of what was voided since a time, with
        /// subscriptions and with refunds of a part of a quantity.
        ///
        /// No end is named: by default it is the present, and Google refuses one that its own clock has
        /// not reached.
        ///
        /// - Parameters:
        ///   - start: UNIX milliseconds; Google keeps 30 days.
        ///   - page: `nextPageToken` of the page before.
        public func voidedPurchases(
            from start: Int64,
            page: String? = nil
        ) async throws(APIFault) -> Answer<VoidedPurchases> {
            var query = [
                ("startTime", String(start)), ("type", "1"),
                ("includeQuantityBasedPartialRefund", "true"),
            ]
            if let page { query.append(("token", page)) }
            return try await get(
                "purchases.voidedpurchases.list",
                ["purchases", "voidedpurchases"],
                query
            ) { json throws(DecodingError) in try VoidedPurchases(json) }
        }

        /// `orders.reviewrefund`: the answer to a pending refund, due within 24 hours.
        public func reviewRefund(
            order: String,
            _ review: RefundReview
        ) async throws(APIFault) {
            try await post(
                "orders.reviewrefund",
                ["orders", order],
                verb: "reviewrefund",
                review.json
            )
        }

        // MARK: - Calls

        func get<Value>(
            _ operation: String,
            _ path: [String],
            verb: String? = nil,
            _ query: [(String, String)] = [],
            _ read: (JSON) throws(DecodingError) -> Value
        ) async throws(APIFault) -> Answer<Value> {
            let response = try await Self.send(
                HTTPRequest(
                    method: "GET",
                    url: url(path, verb: verb, query: query),
                    headers: [:],
                    body: nil
                ),
                operation,
                tokens,
                transport
            )
            return try Self.answer(response, to: operation, read)
        }

        /// Reads the object that an answer is.
        static func answer<Value>(
            _ response: HTTPResponse,
            to operation: String,
            _ read: (JSON) throws(DecodingError) -> Value
        ) throws(APIFault) -> Answer<Value> {
            do throws(DecodingError) {
                return Answer(
                    value: try read(try json(response, operation)),
                    date: response.headers["date"],
                    body: response.body
                )
            } catch {
                throw APIFault(operation: operation, cause: .unreadable(error))
            }
        }

        @discardableResult
        func post(
            _ operation: String,
            _ path: [String],
            verb: String? = nil,
            query: [(String, String)] = [],
            _ body: JSONText?
        ) async throws(APIFault) -> HTTPResponse {
            try await Self.send(
                HTTPRequest(
                    method: "POST",
                    url: url(path, verb: verb, query: query),
                    headers: body == nil ? [:] : ["Content-Type": "application/json"],
                    body: body?.bytes ?? []
                ),
                operation,
                tokens,
                transport
            )
        }

        private func url(
            _ path: [String],
            verb: String?,
            query: [(String, String)]
        ) -> String {
            let parts = ["androidpublisher", "v3", "applications", packageName] + path
            var url = apiBase + "/" + parts.map(URLText.escaped).joined(separator: "/")
            if let verb { url += ":" + verb }
            if !query.isEmpty {
                url += "?" + query.map { "\($0)=\(URLText.escaped($1))" }.joined(separator: "&")
            }
            return url
        }

        /// Sends a request with a fresh token, and once more where the token was refused.
        static func send(
            _ request: HTTPRequest,
            _ operation: String,
            at endpoint: APIFault.Endpoint = .publisher,
            _ tokens: AccessTokens,
            _ transport: Transport
        ) async throws(APIFault) -> HTTPResponse {
            var request = request
            request.headers["Accept"] = "application/json"
            request.headers["User-Agent"] = "tollgate"
            var isSecondTry = false
            while true {
                let token = try await tokens.current()
                request.headers["Authorization"] = "Bearer \(token)"
                let response: HTTPResponse
                do { response = try await transport(request) } catch {
                    throw APIFault(operation: operation, cause: .unreachable(error))
                }
                if (200...299).contains(response.status) { return response }
                let refusal = APIFault.Refusal(response, of: endpoint)
                // A right that the account lacks, a fresh token would lack too.
                if refusal.status == 401, refusal.reason != "permissionDenied", !isSecondTry {
                    await tokens.forget(token)
                    isSecondTry = true
                    continue
                }
                throw APIFault(operation: operation, cause: .refused(refusal))
            }
        }

        static func json(
            _ response: HTTPResponse,
            _ operation: String
        ) throws(DecodingError) -> JSON {
            do {
                return try JSON(response.body)
            } catch {
                throw DecodingError(object: operation, field: "", expected: "JSON: \(error)")
            }
        }
    }
}

/// Parts of addresses (RFC 3986 §2.3).
///
/// Tokens come from apps and strangers: one with a slash would be another method.
enum URLText {
    static func escaped(_ text: String) -> String {
        // These two name places and not things.
        text == "." || text == ".." ? text.replacing(".", with: "%2E") : text.percentEncoded
    }
}
