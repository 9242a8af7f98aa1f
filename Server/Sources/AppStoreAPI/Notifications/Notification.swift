public import Foundation
public import StrictJSON

extension AppStore {
    /// A notification of version 2: `ResponseBodyV2DecodedPayload`.
    public struct Notification: Hashable, Sendable {
        /// What happened.
        public let notificationType: NotificationType
        /// What happened in more detail.
        public let subtype: Subtype?
        /// The notification; the same for every attempt to deliver it.
        public let notificationUUID: UUID
        /// `2.0`.
        public let version: String?
        /// When this was signed; the same for every attempt.
        public let signedDate: Int64?
        /// What happened to one purchase.
        public let data: Data?
        /// The result of extending many subscriptions.
        public let summary: Summary?
        /// A token of the external purchase programme.
        public let externalPurchaseToken: ExternalPurchaseToken?
        /// What happened to the app's use as such.
        public let appData: AppData?
        /// Seats that were released (documentation only).
        public let unclaimSeatIDs: [String]?
        /// The payload as it was signed, with fields that are newer than this code.
        public let json: JSON

        /// Decodes a payload without any verification: only for what a signature covers.
        package init(json: JSON) throws(VerificationError) {
            let fields = try Fields(json, "notification")
            guard let type = try fields.value("notificationType", NotificationType.self) else {
                throw VerificationError(.fieldMissing, at: "notificationType")
            }
            guard let uuid = try fields.uuid("notificationUUID") else {
                throw VerificationError(.fieldMissing, at: "notificationUUID")
            }
            notificationType = type
            subtype = try fields.value("subtype")
            notificationUUID = uuid
            version = try fields.string("version")
            signedDate = try fields.date("signedDate")
            data = try fields.object("data").map(Data.init)
            summary = try fields.object("summary").map(Summary.init)
            externalPurchaseToken = try fields.object("externalPurchaseToken")
                .map(ExternalPurchaseToken.init)
            appData = try fields.object("appData").map(AppData.init)
            if let released = try fields.object("unclaimInfo") {
                unclaimSeatIDs = try released.strings("unclaimSeatIds") ?? []
            } else {
                unclaimSeatIDs = nil
            }
            self.json = json
        }

        /// Which app and environment a part of a notification is for.
        struct Identity {
            var bundleID: String?
            var appAppleID: Int64?
            var environment: Environment?
        }
    }
}

extension AppStore {
    /// The payload of a signed string inside of a payload.
    ///
    /// The outer signature covers it.
    static func innerPayload(
        _ name: StaticString,
        of fields: Fields,
        _ type: PayloadType
    ) throws(VerificationError) -> JSON? {
        guard let field = fields.field(name) else { return nil }
        let decoded = field.withUTF8 { text in
            Result { () throws(VerificationError) in try CompactJWS(text).decodePayload() }
        }
        guard let decoded else { throw Fields.wrongType(name) }
        let json = try parse(try decoded.get())
        guard PayloadType(of: json) == type else {
            throw VerificationError(.payloadType, at: "\(name)")
        }
        return json
    }
}
