import StrictJSON

extension GooglePlay {
    /// Pulls hints from a Pub/Sub subscription by its REST API: needs no public address.
    public struct PubSubClient: Sendable {
        /// `projects/P/subscriptions/S`.
        public let subscription: String
        private let apiBase: String
        private let tokens: AccessTokens
        private let transport: Transport

        /// - Parameter apiBase: The API's address without a path.
        public init(
            subscription: String,
            apiBase: String = "https://pubsub.googleapis.com",
            tokens: AccessTokens,
            transport: @escaping Transport
        ) {
            self.subscription = subscription
            self.apiBase = apiBase.hasSuffix("/") ? String(apiBase.dropLast()) : apiBase
            self.tokens = tokens
            self.transport = transport
        }

        /// Pulls up to `maximum` messages; none where nothing waits.
        public func pull(maximum: Int64 = 100) async throws(APIFault) -> [PulledMessage] {
            let response = try await post("pull", .object([("maxMessages", .integer(maximum))]))
            do throws(DecodingError) {
                let json = try Client.json(response, "subscriptions.pull")
                return try PulledMessages(json, of: subscription).messages
            } catch {
                throw APIFault(operation: "subscriptions.pull", cause: .unreadable(error))
            }
        }

        /// Acknowledges pulled messages; call it once they are durable.
        public func acknowledge(_ ackIDs: [String]) async throws(APIFault) {
            guard !ackIDs.isEmpty else { return }
            _ = try await post(
                "acknowledge",
                .object([("ackIds", .strings(ackIDs))])
            )
        }

        /// Describes the subscription, which needs the right `pubsub.subscriptions.get`.
        public func describe() async throws(APIFault) -> PubSubSubscription {
            let path = subscription.split(separator: "/").map { URLText.escaped(String($0)) }
            let response = try await Client.send(
                HTTPRequest(
                    method: "GET",
                    url: "\(apiBase)/v1/\(path.joined(separator: "/"))",
                    headers: [:],
                    body: nil
                ),
                "subscriptions.get",
                at: .pubSub,
                tokens,
                transport
            )
            do throws(DecodingError) {
                return PubSubSubscription(try Client.json(response, "subscriptions.get"))
            } catch {
                throw APIFault(operation: "subscriptions.get", cause: .unreadable(error))
            }
        }

        private func post(_ verb: String, _ body: JSONText) async throws(APIFault) -> HTTPResponse {
            let path = subscription.split(separator: "/").map { URLText.escaped(String($0)) }
            return try await Client.send(
                HTTPRequest(
                    method: "POST",
                    url: "\(apiBase)/v1/\(path.joined(separator: "/")):\(verb)",
                    headers: ["Content-Type": "application/json"],
                    body: body.bytes
                ),
                "subscriptions.\(verb)",
                at: .pubSub,
                tokens,
                transport
            )
        }
    }
}

extension GooglePlay {
    /// A subscription of Pub/Sub, as far as somebody has to set it up.
    ///
    /// https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.subscriptions
    public struct PubSubSubscription: Hashable, Sendable {
        /// `projects/P/topics/T`, or `_deleted-topic_`.
        public let topic: String?
        /// Where messages are pushed to; `nil`: they are pulled.
        public let pushEndpoint: String?
        /// Seconds without activity after which Pub/Sub deletes it; `nil`: never.
        public let expiresAfter: Int64?

        init(_ json: JSON) {
            topic = json["topic"]?.string
            let endpoint = json["pushConfig"]?["pushEndpoint"]?.string
            pushEndpoint = endpoint?.isEmpty == false ? endpoint : nil
            expiresAfter = (json["expirationPolicy"]?["ttl"]?.string).flatMap { text in
                Int64(text.prefix { $0.isNumber })
            }
        }
    }
}
