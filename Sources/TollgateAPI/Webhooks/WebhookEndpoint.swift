import Foundation

extension API {
    /// An address of the app's backend that is told what changes, by the Standard Webhooks scheme.
    public struct WebhookEndpoint: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        public var url: String
        public var description: String?
        /// Types of events and of their changes; `*` is all.
        public var enabledEvents: [String]
        /// `enabled` or `disabled`.
        public var status: String
        /// Why it is disabled.
        public var disabledReason: String?
        public var created: Milliseconds
        /// `whsec_` and Base64; only in the answer that made it.
        public var secret: String?

        public init(
            id: String,
            url: String,
            description: String?,
            enabledEvents: [String],
            status: String,
            disabledReason: String?,
            created: Milliseconds,
            secret: String? = nil
        ) {
            self.id = id
            self.url = url
            self.description = description
            self.enabledEvents = enabledEvents
            self.status = status
            self.disabledReason = disabledReason
            self.created = created
            self.secret = secret
        }

        private enum CodingKeys: String, CodingKey {
            case id, url, description, status, created, secret
            case enabledEvents = "enabled_events"
            case disabledReason = "disabled_reason"
        }
    }

    /// The body of `POST /v1/webhook_endpoints`, and of `POST /v1/webhook_endpoints/{id}`, where all
    /// may be left out.
    public struct WebhookEndpointRequest: Hashable, Codable, Sendable {
        public var url: String?
        public var description: String?
        /// `["*"]` if left out.
        public var enabledEvents: [String]?
        /// False: nothing is sent until it is true again.
        public var enabled: Bool?
        /// The event after which it begins; `beginning` for the whole feed, what comes next if
        /// left out.
        public var startingAfter: String?

        public init(
            url: String? = nil,
            description: String? = nil,
            enabledEvents: [String]? = nil,
            enabled: Bool? = nil,
            startingAfter: String? = nil
        ) {
            self.url = url
            self.description = description
            self.enabledEvents = enabledEvents
            self.enabled = enabled
            self.startingAfter = startingAfter
        }

        private enum CodingKeys: String, CodingKey {
            case url, description, enabled
            case enabledEvents = "enabled_events"
            case startingAfter = "starting_after"
        }
    }

    /// The answer of `DELETE /v1/webhook_endpoints/{id}`.
    public struct DeletedWebhookEndpoint: Hashable, Codable, Sendable, Identifiable {
        public var id: String
        /// Always true.
        public var deleted: Bool

        public init(id: String) {
            self.id = id
            deleted = true
        }
    }

    /// The body of `POST /v1/webhook_endpoints/{id}/rotate_secret`.
    public struct WebhookSecretRotation: Hashable, Codable, Sendable {
        /// For how long what is sent bears the old signature too, in seconds; a day if left out.
        public var overlap: Int64?

        public init(overlap: Int64? = nil) {
            self.overlap = overlap
        }
    }

    /// The body of `POST /v1/webhook_endpoints/{id}/replay`: one of the three.
    public struct WebhookReplayRequest: Hashable, Codable, Sendable {
        /// The id of one event.
        public var event: String?
        /// Everything after this event; `beginning` for all.
        public var startingAfter: String?
        /// Everything that was given up.
        public var dead: Bool?

        public init(event: String? = nil, startingAfter: String? = nil, dead: Bool? = nil) {
            self.event = event
            self.startingAfter = startingAfter
            self.dead = dead
        }

        private enum CodingKeys: String, CodingKey {
            case event, dead
            case startingAfter = "starting_after"
        }
    }

    /// The answer to it.
    public struct WebhookReplay: Hashable, Codable, Sendable {
        /// How many events are sent again, at most.
        public var events: Int64

        public init(events: Int64) {
            self.events = events
        }
    }

    /// One event for one endpoint.
    public struct WebhookDelivery: Hashable, Codable, Sendable {
        /// The event's id.
        public var event: String
        /// `waiting`, `delivered` or `dead`.
        public var status: String
        public var attempts: Int64
        /// When it is sent next, if it waits.
        public var due: Milliseconds?
        /// When it was sent last.
        public var tried: Milliseconds?
        /// What came of that.
        public var outcome: String?

        public init(
            event: String,
            status: String,
            attempts: Int64,
            due: Milliseconds?,
            tried: Milliseconds?,
            outcome: String?
        ) {
            self.event = event
            self.status = status
            self.attempts = attempts
            self.due = due
            self.tried = tried
            self.outcome = outcome
        }
    }
}
