public import Foundation
import StrictJSON

extension AppStore {
    /// Which notifications to list.
    public struct NotificationHistoryRequest: Hashable, Sendable {
        /// From this instant on.
        public var startDate: Int64
        /// Before this instant.
        public var endDate: Int64
        /// Of all customers, or of the one that a transaction belongs to, or of one type.
        public var filter: Filter
        /// Only what was never delivered or is still tried.
        public var onlyFailures: Bool

        /// A span of time.
        public init(
            startDate: Int64,
            endDate: Int64,
            filter: Filter = .all,
            onlyFailures: Bool = false
        ) {
            self.startDate = startDate
            self.endDate = endDate
            self.filter = filter
            self.onlyFailures = onlyFailures
        }

        /// Apple takes one filter at most (4000019).
        public enum Filter: Hashable, Sendable {
            case all
            case transaction(String)
            case type(NotificationType, Subtype?)
        }

        var json: JSONText {
            var members: [(String, JSONText?)] = [
                ("startDate", .integer(startDate)), ("endDate", .integer(endDate)),
            ]
            switch filter {
            case .all: break
            case .transaction(let id): members.append(("transactionId", .string(id)))
            case .type(let type, let subtype):
                members.append(("notificationType", .string(type.rawValue)))
                members.append(("notificationSubtype", (subtype?.rawValue).json))
            }
            if onlyFailures { members.append(("onlyFailures", .bool(true))) }
            return .object(members)
        }
    }

    /// A page of notifications, at most 20.
    public struct NotificationHistoryResponse: Hashable, Sendable {
        /// The place after this page.
        public let paginationToken: String?
        /// Whether another page follows.
        public let hasMore: Bool
        /// The notifications.
        public let notificationHistory: [Item]

        init(_ fields: Fields) throws(VerificationError) {
            paginationToken = try fields.string("paginationToken")
            hasMore = try fields.bool("hasMore") ?? false
            notificationHistory = try fields.objects("notificationHistory", Item.init)
        }

        /// One notification and the attempts to deliver it.
        public struct Item: Hashable, Sendable {
            /// JWS, to be verified; as it was first sent, not as things are now.
            public let signedPayload: String
            /// The attempts, at most six.
            public let sendAttempts: [SendAttempt]

            /// Whether an attempt was answered as it should be.
            public var wasDelivered: Bool {
                sendAttempts.contains { $0.sendAttemptResult == .success }
            }

            /// What the notification says of itself, before anything is verified.
            public var unverified: UnverifiedNotification? {
                UnverifiedNotification(signedPayload: Array(signedPayload.utf8))
            }

            init(_ fields: Fields) throws(VerificationError) {
                signedPayload = try fields.required("signedPayload")
                sendAttempts = try fields.objects("sendAttempts", SendAttempt.init)
            }
        }
    }
}

extension AppStore {
    /// What a signed notification says of itself while its signature was not checked.
    ///
    /// Good for telling whether it is known already, and for nothing else.
    public struct UnverifiedNotification: Hashable, Sendable {
        public let notificationUUID: UUID
        /// When it was signed, in UNIX milliseconds.
        public let signedDate: Int64?

        init?(signedPayload: [UInt8]) {
            let payload = try? signedPayload.withUnsafeBytes { try CompactJWS($0).decodePayload() }
            guard let payload, let json = try? JSON(payload),
                let uuid = json["notificationUUID"]?.string.flatMap(UUID.init(uuidString:))
            else { return nil }
            notificationUUID = uuid
            signedDate = json["signedDate"]?.int64
        }
    }
}
