extension AppStore {
    /// A report of App Store Connect: lines of values between tabs, named by the first line.
    ///
    /// Columns are found by their names, since their order has changed before; names that we do not
    /// know are passed over.
    public struct TabularReport: Hashable, Sendable {
        /// The names in the first line.
        public let columns: [String]
        /// The lines below it, as far as they have values.
        public let rows: [Row]

        /// One line.
        public struct Row: Hashable, Sendable {
            /// Its number in the file; the header is line 1.
            public let line: Int
            let values: [String: String]
        }

        /// The most bytes of an unpacked report.
        public static let sizeLimit = 256 << 20

        /// Reads the bytes of a report, packed with gzip or not.
        public init(_ bytes: [UInt8]) throws(ConnectReportError) {
            var bytes = bytes
            if bytes.starts(with: [0x1F, 0x8B]) {
                do {
                    bytes = try Inflate.gunzip(bytes, limit: Self.sizeLimit)
                } catch {
                    throw ConnectReportError(.notGzip, "\(error)")
                }
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ConnectReportError(.notText)
            }
            let lines = text.split(
                omittingEmptySubsequences: false,
                whereSeparator: { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
            )
            guard let first = lines.first, first.contains("\t") else {
                throw ConnectReportError(.noHeader)
            }
            columns = Self.values(first)
            var rows: [Row] = []
            for (index, line) in lines.enumerated().dropFirst() {
                let values = Self.values(line)
                guard values.contains(where: { !$0.isEmpty }) else { continue }
                // A financial report ends with totals of its own form.
                if values.count < columns.count, values.count <= 3 { continue }
                rows.append(
                    Row(
                        line: index + 1,
                        values: Dictionary(
                            zip(columns, values),
                            uniquingKeysWith: { first, _ in first }
                        )
                    )
                )
            }
            self.rows = rows
        }

        private static func values(_ line: Substring) -> [String] {
            line.split(separator: "\t", omittingEmptySubsequences: false).map {
                String($0.trimmingPrefix(while: \.isWhitespace)).trimmedEnd
            }
        }
    }

    /// Why a report could not be read.
    public struct ConnectReportError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong.
        public enum Reason: String, Hashable, Sendable {
            case notGzip = "the file is no whole gzip"
            case notText = "the file is no UTF-8"
            case noHeader = "the first line names no columns between tabs"
            case unknownReport = "the columns are those of no report that is known here"
            case columnMissing = "a column is missing"
            case valueInvalid = "a value cannot be read"
        }

        public let reason: Reason
        /// Which column or value.
        public let detail: String?
        /// The line in the file, where it is one line's fault.
        public let line: Int?

        init(_ reason: Reason, _ detail: String? = nil, line: Int? = nil) {
            self.reason = reason
            self.detail = detail
            self.line = line
        }

        public var description: String {
            (line.map { "line \($0): " } ?? "") + reason.rawValue
                + (detail.map { ": \($0)" } ?? "")
        }
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension AppStore.TabularReport.Row {
    typealias Failure = AppStore.ConnectReportError

    /// The value under a name; nil if it is empty.
    func text(_ name: String) throws(Failure) -> String? {
        guard let value = values[name] else {
            throw Failure(.columnMissing, "‘\(name)’", line: line)
        }
        return value.isEmpty ? nil : value
    }

    /// The same where the column itself may be missing, as it does in older reports.
    func textIfAny(_ name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func required(_ name: String) throws(Failure) -> String {
        guard let value = try text(name) else {
            throw Failure(.valueInvalid, "‘\(name)’ is empty", line: line)
        }
        return value
    }

    /// A whole number; an empty one is 0.
    func count(_ name: String) throws(Failure) -> Int64 {
        guard let text = try text(name) else { return 0 }
        // Units may be written as 1.00.
        guard let amount = AppStore.ReportAmount(text), amount.millionths % 1_000_000 == 0 else {
            throw Failure(.valueInvalid, "‘\(name)’ is no whole number: \(text)", line: line)
        }
        return amount.millionths / 1_000_000
    }

    /// An amount of money; an empty one is 0.
    func amount(_ name: String) throws(Failure) -> AppStore.ReportAmount {
        guard let text = try text(name) else { return AppStore.ReportAmount(millionths: 0) }
        guard let amount = AppStore.ReportAmount(text) else {
            throw Failure(.valueInvalid, "‘\(name)’ is no amount: \(text)", line: line)
        }
        return amount
    }

    func day(_ name: String) throws(Failure) -> AppStore.ReportDay {
        let text = try required(name)
        guard let day = AppStore.ReportDay(text) else {
            throw Failure(.valueInvalid, "‘\(name)’ is no date: \(text)", line: line)
        }
        return day
    }
}
