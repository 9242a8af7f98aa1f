internal import Foundation
internal import Reports
internal import StrictJSON
internal import StripeAPI
internal import TextFormats
internal import TollgateCore

/// A file of balance transactions or payouts: an export of Stripe's Dashboard or reports (CSV), or
/// objects of the API, one a line.
struct StripeFile {
    /// Why a file cannot be read.
    struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        var line: Int?
        var message: String

        var description: String { (line.map { "line \($0): " } ?? "") + message }
    }

    private(set) var lines: [Finance.BalanceLine] = []
    private(set) var payouts: [StripeReports.KeptPayout] = []

    /// Whether it looks like one, and not like a report of App Store Connect.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        // App Store Connect packs its files.
        guard !bytes.starts(with: [0x1F, 0x8B]),
            let first = bytes.first(where: { !$0.isSpace })
        else { return false }
        if first == UInt8(ascii: "{") { return true }
        let header = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return !header.contains(UInt8(ascii: "\t")) && header.contains(UInt8(ascii: ","))
    }

    init(_ bytes: [UInt8]) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "the file is no UTF-8")
        }
        if bytes.first(where: { !$0.isSpace }) == UInt8(ascii: "{") {
            try readObjects(text)
        } else {
            try readTable(text)
        }
    }

    // MARK: - Objects of the API

    private mutating func readObjects(_ text: String) throws {
        for (index, line) in text.split(
            omittingEmptySubsequences: false,
            whereSeparator: \.isNewline
        ).enumerated() where !line.allSatisfy(\.isWhitespace) {
            do {
                try read(JSON(Array(line.utf8)))
            } catch let error as Failure {
                throw error
            } catch {
                throw Failure(line: index + 1, message: "\(error)")
            }
        }
    }

    private mutating func read(_ json: JSON) throws {
        switch json["object"]?.string {
        case "list":
            for element in json["data"].map({ Array($0.elements) }) ?? [] { try read(element) }
        case Stripe.BalanceTransaction.objectName:
            let transaction = try Stripe.BalanceTransaction(json)
            lines.append(
                Finance.BalanceLine(
                    transaction,
                    in: transaction.source?.livemode.map { $0 ? .production : .sandbox }
                )
            )
        case Stripe.Payout.objectName: payouts.append(.init(try Stripe.Payout(json)))
        case let other:
            throw Failure(message: "'\(other ?? "")' is neither a balance_transaction nor a payout")
        }
    }

    // MARK: - Exports

    private mutating func readTable(_ text: String) throws {
        var rows = SeparatedValues(text.utf8)
        guard let header = rows.next() else { throw Failure(message: "the file is empty") }
        let names = header.map { Self.canonical($0) }
        let isPayouts = names.contains("arrival_date") && !names.contains("fee")
        guard isPayouts || names.contains("net") else {
            throw Failure(
                message:
                    "the columns are those of no export that is known here: \(header.prefix(4).joined(separator: ", "))"
            )
        }
        while let values = rows.next() {
            guard values.contains(where: { !$0.isEmpty }) else { continue }
            let row = Row(
                line: rows.line,
                values: Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
            )
            if isPayouts {
                payouts.append(try row.payout())
            } else {
                lines.append(try row.balanceLine())
            }
        }
    }

    /// The name under which a column is known here, whichever export has it.
    private static func canonical(_ column: String) -> String {
        let name = column.trimmingCharacters(in: .whitespaces).lowercased()
            .replacingOccurrences(of: " (utc)", with: "_utc")
            .replacingOccurrences(of: " ", with: "_")
        return switch name {
        case "balance_transaction_id": "id"
        case "gross": "amount"
        case "source_id": "source"
        case "created_utc": "created"
        case "created": "created_local"
        case "available_on_utc": "available"
        case "automatic_payout_id": "payout"
        case "arrival_date_utc": "arrival_date"
        default: name
        }
    }

    private struct Row {
        var line: Int
        var values: [String: String]

        func text(_ name: String) -> String? {
            values[name].flatMap { $0.isEmpty ? nil : $0 }
        }

        func required(_ name: String) throws -> String {
            guard let text = text(name) else {
                throw Failure(line: line, message: "‘\(name)’ is missing")
            }
            return text
        }

        /// Exports write amounts in main units, with a comma now and then.
        func money(_ name: String, _ currency: String) throws -> Finance.Money {
            guard let text = text(name) else { return .zero(currency) }
            let plain = text.replacingOccurrences(of: ",", with: "")
            guard let money = Finance.Money(decimal: plain, currency: currency) else {
                throw Failure(line: line, message: "‘\(name)’ is no amount: \(text)")
            }
            return money
        }

        /// `2026-06-01 12:30:00`, or without seconds, or the day alone.
        func instant(_ text: String) throws -> Instant {
            let parts = text.split { $0 == " " || $0 == "T" }
            guard let date = parts.first, let day = Finance.Day(date) else {
                throw Failure(line: line, message: "no time: \(text)")
            }
            let time = parts.count > 1 ? parts[1].prefix(8).split(separator: ":") : []
            let numbers = time.compactMap { Int64($0) }
            guard numbers.count == time.count, numbers.allSatisfy({ (0..<60).contains($0) }) else {
                throw Failure(line: line, message: "no time: \(text)")
            }
            let seconds = zip(numbers, [3600, 60, 1] as [Int64]).reduce(0) { $0 + $1.0 * $1.1 }
            return day.start.advanced(by: seconds * 1000)
        }

        func balanceLine() throws -> Finance.BalanceLine {
            let currency = try required("currency")
            let created = try instant(try text("created") ?? required("created_local"))
            let type = text("type") ?? ""
            let category = text("reporting_category") ?? type
            let source = text("source")
            return Finance.BalanceLine(
                id: try required("id"),
                kind: Finance.BalanceLine.Kind(category: category, type: type, source: source),
                category: category,
                source: source,
                payment: text("payment_intent_id"),
                invoice: text("invoice_id"),
                payout: text("payout") ?? text("transfer"),
                created: created,
                available: try (text("available") ?? text("available_on"))
                    .map { try instant($0) } ?? created,
                amount: try money("amount", currency),
                fee: try money("fee", currency),
                net: try money("net", currency),
                exchangeRate: try rate(currency),
                description: text("description")
            )
        }

        /// Exports say what the customer paid; the rate is the ratio of the two.
        private func rate(_ currency: String) throws -> Finance.Ratio? {
            guard let other = text("customer_facing_currency"),
                other.lowercased() != currency.lowercased()
            else { return nil }
            let paid = try money("customer_facing_amount", other)
            let booked = try money("amount", currency)
            guard paid.millionths != 0, (paid.millionths < 0) == (booked.millionths < 0) else {
                return nil
            }
            return Finance.Ratio(
                Int64(clamping: booked.millionths.magnitude),
                over: Int64(clamping: paid.millionths.magnitude)
            )
        }

        func payout() throws -> StripeReports.KeptPayout {
            let currency = try required("currency")
            return StripeReports.KeptPayout(
                payout: Finance.Payout(
                    store: .stripe,
                    id: try required("id"),
                    arrival: Finance.Day(utc: try instant(try required("arrival_date"))),
                    status: text("status") ?? "paid",
                    amount: try money("amount", currency)
                ),
                created: try instant(try text("created") ?? required("arrival_date"))
            )
        }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool {
        self == 32 || (9...13).contains(self) || self == 0xEF
            || self == 0xBB || self == 0xBF
    }
}
