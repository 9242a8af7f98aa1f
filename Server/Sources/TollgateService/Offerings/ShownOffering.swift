internal import Foundation
internal import Reports
internal import Storage
internal import TollgateAPI
internal import TollgateCore

/// That a customer saw an offering at a placement, as the journal row keeps it.
///
/// It is personal data, so it is the row's body, which an erasure removes.
struct ShownOffering: Codable {
    var placement: String
    var offering: String
    /// Of the session; `nil` in older rows, which count in both.
    var environment: StoreEnvironment?

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

extension StoredStatement {
    /// The figures of what a customer saw; none of any other statement.
    func showings() throws -> [Figure] {
        guard let shown = ShownOffering(body) else { return [] }
        let environments = shown.environment.map { [$0] } ?? StoreEnvironment.allCases
        return try environments.enumerated().map { number, environment in
            try Figure(
                .shown,
                of: key,
                number: number,
                in: environment,
                at: at,
                customer: customer.inEnvironment(environment).hex,
                Reports.Showing(placement: shown.placement, offering: shown.offering, at: at)
            )
        }
    }
}
