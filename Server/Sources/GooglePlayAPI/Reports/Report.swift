extension GooglePlay {
    /// A report of the Play Console with its rows.
    ///
    /// https://support.google.com/googleplay/android-developer/answer/6135870
    public struct Report: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case sales, earnings, payouts

            /// The folder of the bucket that has them.
            public var prefix: String { rawValue + "/" }
        }

        public enum Rows: Hashable, Sendable {
            case sales([SalesRow])
            case earnings([EarningsRow])
            case payouts([PayoutRow])
        }

        public let kind: Kind
        /// `2026-05`.
        public let month: String
        /// The file's name without folder and ending, which keeps it apart from others of its month.
        public let name: String
        public let rows: Rows

        /// The most bytes of a report, packed and unpacked.
        public static let packedLimit = 64 << 20
        private static let limit = 256 << 20

        /// Reads a report, packed as a zip file or not.
        ///
        /// - Parameter path: its name in the bucket or on a disk, which says what it is of which month:
        ///   `sales/salesreport_202605.zip`.
        public init(_ bytes: [UInt8], named path: String) throws(ReportProblem) {
            let file = String(path.split(separator: "/").last ?? "")
            guard let kind = Self.kind(of: path), let month = Self.month(of: file) else {
                throw ReportProblem(
                    file: path,
                    "the name does not say which report it is; keep the name that the Play Console gave it, such as salesreport_202605.zip or earnings_202605_1234-5.zip."
                )
            }
            self.kind = kind
            self.month = month
            name = String(file.prefix { $0 != "." })
            let tables = try Self.tables(bytes, named: file)
            switch kind {
            case .sales: rows = .sales(try SalesRow.rows(tables))
            case .earnings: rows = .earnings(try EarningsRow.rows(tables))
            case .payouts: rows = .payouts(try PayoutRow.rows(tables))
            }
        }

        /// The kind of report that a name is of; `nil` for one that is read here by no name.
        public static func kind(of path: String) -> Kind? {
            let parts = path.lowercased().split(separator: "/")
            let file = parts.last ?? ""
            if file.hasPrefix("salesreport") { return .sales }
            if file.hasPrefix("earnings") || file.hasPrefix("playapps") { return .earnings }
            if file.hasPrefix("payout") { return .payouts }
            return parts.count > 1 ? Kind.allCases.first { "\(parts[0])/" == $0.prefix } : nil
        }

        /// `2026-05` of `salesreport_202605.zip`.
        public static func month(of file: String) -> String? {
            for digits in file.split(whereSeparator: { !("0"..."9").contains($0) })
            where digits.count == 6 && digits.hasPrefix("20") {
                let month = "\(digits.prefix(4))-\(digits.suffix(2))"
                if ReportDate("\(month)-01") != nil { return month }
            }
            return nil
        }

        private static func tables(
            _ bytes: [UInt8],
            named file: String
        ) throws(ReportProblem) -> [ZipArchive.File] {
            guard ZipArchive.recognizes(bytes) || file.lowercased().hasSuffix(".zip") else {
                return [ZipArchive.File(name: file, contents: bytes)]
            }
            do {
                return try ZipArchive.files(bytes, limit: limit).filter {
                    $0.name.lowercased().hasSuffix(".csv")
                }
            } catch {
                throw ReportProblem(file: file, "\(error); download it again.")
            }
        }
    }
}
