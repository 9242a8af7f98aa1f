internal import Foundation
internal import TollgateAPI

/// That a customer saw an offering at a placement, as the journal row keeps it.
///
/// It is personal data, so it is the row's body, which an erasure removes.
struct ShownOffering: Codable {
    var placement: String
    var offering: String

    /// How exports write it.
    var text: String { "\(placement)/\(offering)" }
}

extension ShownOffering {
    /// `nil` where a row's body is about something else.
    init?(_ body: [UInt8]) {
        guard let shown = try? APIJSON.decode(Self.self, from: Data(body)) else { return nil }
        self = shown
    }
}
