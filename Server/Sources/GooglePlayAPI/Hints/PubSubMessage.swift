public import StrictJSON

extension GooglePlay {
    /// A message of Cloud Pub/Sub, pushed to us or pulled by us.
    public struct PubSubMessage: Hashable, Sendable {
        /// Unique within its topic.
        ///
        /// A message that is published twice has two.
        public let id: String
        /// The content, decoded.
        public let data: [UInt8]
        /// The subscription that delivered it: `projects/P/subscriptions/S`.
        public let subscription: String

        /// Reads the body of a push: `{"message": {…}, "subscription": "projects/P/subscriptions/S"}`.
        ///
        /// - Throws: `DecodingError` where it has another form.
        public init(push json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "push")
            subscription = try fields.string("subscription")
            let message = try fields.optional("message") { message throws(DecodingError) in
                try Content(message)
            }
            guard let message else { throw fields.error("message", "a message") }
            (id, data) = (message.id, message.data)
        }

        private struct Content {
            let id: String
            let data: [UInt8]

            init(_ fields: Fields) throws(DecodingError) {
                // Older pushes spell it both ways.
                let id = try fields.optionalString("messageId")
                self.id = if let id { id } else { try fields.string("message_id") }
                let text = try fields.optionalString("data") ?? ""
                guard let data = Base64Text.bytes(of: text) else {
                    throw fields.error("data", "base64")
                }
                self.data = data
            }
        }
    }

    /// A pulled message in the form of a push, unread: one that cannot be read keeps no other one back.
    public struct PulledMessage: Hashable, Sendable {
        /// The id that acknowledges it.
        public let ackID: String
        /// The body that a push of it would have.
        public let body: [UInt8]

        init(_ ackID: String, _ message: JSON?, of subscription: String) {
            self.ackID = ackID
            let name = JSONText.object([("subscription", .string(subscription))]).bytes
            let content = message.map { Array($0.rawBytes) } ?? Array("{}".utf8)
            body = Array("{\"message\":".utf8) + content + Array(",".utf8) + name.dropFirst()
        }
    }

    /// `PullResponse`.
    struct PulledMessages {
        let messages: [PulledMessage]

        init(_ json: JSON, of subscription: String) throws(DecodingError) {
            let fields = try Fields(json, "PullResponse")
            guard let list = json["receivedMessages"], !list.isNull else {
                messages = []
                return
            }
            guard list.kind == .array else { throw fields.error("receivedMessages", "a list") }
            // Without an id it cannot be acknowledged: Google delivers it again.
            messages = list.elements.compactMap { received in
                received["ackId"]?.string.map { ackID in
                    PulledMessage(ackID, received["message"], of: subscription)
                }
            }
        }
    }
}
