internal import Stores
public import Reports
public import Storage
internal import TollgateCore

/// The journal as tables, for a warehouse.
public struct JournalExport: Sendable {
    let records: RecordStore

    public init(records: RecordStore) {
        self.records = records
    }

    /// Up to which row the journal may be given out now: none at or below it will still appear.
    ///
    /// Asked once for all pages of an export: on PostgreSQL it waits for whatever is just being
    /// committed, and that for it.
    ///
    /// - Parameter next: where the export begins; `nil`: with the first row.
    /// - Throws: a refusal 400 `parameter_invalid`; `StorageError`.
    public func horizon(after next: String? = nil) async throws -> Int64 {
        try await records.figures.journalHorizon(after: try Self.row(next))
    }

    /// A page of the journal as a table, for a warehouse: what was said, when and of what, without
    /// the signed bodies.
    ///
    /// - Parameters:
    ///   - next: of the page before; `nil` begins.
    ///   - horizon: of the whole export, as ``horizon(after:)`` told it.
    ///   - limit: 1 to 10 000.
    /// - Throws: a refusal 400 `parameter_invalid`; `StorageError`.
    public func rows(
        from first: Reports.Day,
        to last: Reports.Day,
        after next: String? = nil,
        upTo horizon: Int64,
        limit: Int64 = 1_000
    ) async throws -> ReportRows {
        guard (1...10_000).contains(limit) else {
            throw Refusal.invalid("limit", "limit is between 1 and 10000.")
        }
        let rows = try await records.journal.exported(
            after: try Self.row(next),
            upTo: horizon,
            from: first.start,
            to: last.advanced(by: 1).start.advanced(by: -1),
            limit: limit
        )
        let table = Reports.Table(
            name: "journal",
            title: "The journal",
            columns: [
                .init("id", "Id", .count), .init("day", "Day", .day),
                .init("stated", "Stated", .count), .init("kind", "Kind", .text),
                .init("subject", "Subject", .text),
                .init("dedupe_key", "Key", .text), .init("facts", "Facts", .text),
                .init("shown", "Shown", .text),
            ],
            rows: rows.map { row in
                [
                    .count(row.id), .day(Reports.Day(row.stated)),
                    .count(row.stated.milliseconds), .text("\(row.kind)"),
                    .text(row.subject.hex), .text(row.dedupeKey.hex), .text(row.facts),
                    .text(row.said.flatMap { ShownOffering($0)?.text } ?? ""),
                ]
            }
        )
        let isWhole = Int64(rows.count) < limit
        return ReportRows(table: table, next: isWhole ? nil : rows.last.map { "\($0.id)" })
    }

    private static func row(_ next: String?) throws -> Int64 {
        guard let next else { return 0 }
        guard let id = Int64(next), id >= 0 else {
            throw Refusal.invalid("starting_after", "starting_after is a row's id.")
        }
        return id
    }
}
