internal import TollgateCore

/// Somebody who came to the portal by a link of ours.
public struct PortalVisit: Codable, Hashable, Sendable {
    /// For whom, and until when.
    public var session: CustomerSession
    /// A page of this server to which the way back leads.
    public var returnURL: String?
    /// The hash of the session from which the link was made: signing out ends the portal too.
    var parent: String?
}
