import Foundation
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
        /// The subscription that delivered it; `nil` for a pulled one.
        public let subscription: String?
        /// By which a pulled message is acknowledged.
        public let ackID: String?

        /// Reads the body of a push: `{"message": {…}, "subscription": "projects/P/subscriptions/S"}`.
        ///
        /// - Throws: `DecodingError` where it has another form.
        public init(push json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "push")
            let subscription = try fields.string("subscription")
            let message = try fields.optional("message") { message throws(DecodingError) in
                try Self(message, subscription: subscription, ackID: nil)
            }
            guard let message else { throw fields.error("message", "a message") }
            self = message
        }

        init(
            _ fields: Fields,
            subscription: String?,
            ackID: String?
        ) throws(DecodingError) {
            // Older pushes spell it both ways.
            let id = try fields.optionalString("messageId")
            self.id = if let id { id } else { try fields.string("message_id") }
            let text = try fields.optionalString("data") ?? ""
            guard let data = Data(base64Encoded: text) else {
                throw fields.error("data", "base64")
            }
            self.data = [UInt8](data)
            self.subscription = subscription
            self.ackID = ackID
        }
    }

    /// `PullResponse`.
    struct PulledMessages {
        let messages: [PubSubMessage]

        init(_ json: JSON) throws(DecodingError) {
            messages = try Fields(json, "PullResponse").list("receivedMessages") {
                received throws(DecodingError) in
                let ackID = try received.string("ackId")
                let message = try received.optional("message") { message throws(DecodingError) in
                    try PubSubMessage(message, subscription: nil, ackID: ackID)
                }
                guard let message else { throw received.error("message", "a message") }
                return message
            }
        }
    }
}
