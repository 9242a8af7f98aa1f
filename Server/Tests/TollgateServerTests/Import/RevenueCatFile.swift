import Foundation
import TollgateAssembly
import TollgateService

/// A hand-made export of RevenueCat's, with columns of version 5.
struct RevenueCatFile {
    static let columns = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "country",
        "product_identifier", "start_time", "end_time", "effective_end_time", "store",
        "is_auto_renewable", "is_sandbox", "store_transaction_id",
        "original_store_transaction_id", "refunded_at", "entitlement_identifiers",
        "renewal_number", "ownership_type", "reserved_subscriber_attributes", "updated_at",
    ]

    /// As version 5 writes JSON: its quotes are not those of CSV, so the row falls apart behind them.
    static let attributes =
        #""{\"$ip\": {"value": "203.0.113.7, 203.0.113.8", "updated_at_ms": 1672549200}}""#

    var lines = [columns.joined(separator: ",")]
    /// The start of the world's time, in UNIX milliseconds.
    var origin: Int64

    init(origin: Int64) {
        self.origin = origin
    }

    /// Adds a transaction; times are days since the world's start.
    ///
    /// - Parameter ends: `nil`: it has no end.
    mutating func add(
        _ product: String,
        _ transaction: String,
        of alias: String,
        original: String? = nil,
        originalUser: String? = nil,
        store: String = "app_store",
        starts: Double = 0,
        ends: Double?,
        refunded: Double? = nil,
        unlocks: [String] = ["pro"],
        isSandbox: Bool = false
    ) {
        let end = ends.map(time) ?? ""
        let list = unlocks.map { "\"\"\($0)\"\"" }.joined(separator: ", ")
        lines.append(
            [
                originalUser ?? alias, alias, "DE", product, time(starts), end, end, store,
                "\(ends != nil)", "\(isSandbox)", transaction, original ?? transaction,
                refunded.map(time) ?? "", unlocks.isEmpty ? "" : "\"[\(list)]\"", "1", "PURCHASED",
                Self.attributes, time(0),
            ].joined(separator: ",")
        )
    }

    /// `2026-06-01 00:00:00`, in UTC.
    private func time(_ days: Double) -> String {
        let seconds = Double(origin) / 1000 + days * 86_400
        return Date(timeIntervalSince1970: seconds.rounded()).formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space)
                .time(includingFractionalSeconds: false)
        )
    }

    /// Brings the file in.
    func bringIn(
        to tollgate: Tollgate,
        _ set: (inout RevenueCatImport.Options) -> Void = { _ in }
    ) async throws -> RevenueCatImport.Report? {
        var options = RevenueCatImport.Options()
        set(&options)
        var rest = lines[...]
        return try await tollgate.revenueCatImport(
            file: "\(lines.hashValue)",
            options: options,
            perMinute: 3000
        ).run(next: { rest.popFirst().map { Array($0.utf8) } })
    }
}
