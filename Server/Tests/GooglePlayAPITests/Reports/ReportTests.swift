import Foundation
import GooglePlayAPI
import Testing

@Suite("The Play Console's reports")
struct ReportTests {
    private static let sales = """
        Order Number,Order Charged Date,Order Charged Timestamp,Financial Status,Device Model,\
        Product Title,Product ID,Product Type,SKU ID,Currency of Sale,Item Price,Taxes Collected,\
        Charged Amount,City of Buyer,State of Buyer,Postal Code of Buyer,Country of Buyer
        GPA.1111-2222-3333-44444,2026-05-28,1780012800,Charged,phone,"Premium, ""the"" plan",\
        com.example.app,subscription,premium,EUR,"1,009.24",191.76,"1,201.00",Berlin,,10115,DE

        GPA.1111-2222-3333-44444..0,2026-06-28,,PARTIALLY REFUNDED,,Premium,com.example.app,\
        subscription,premium,EUR,-1.00,-0.19,-1.19,,,,DE
        """

    private static let earnings = """
        Description,Transaction Date,Transaction Time,Tax Type,Transaction Type,Refund Type,\
        Product Title,Product id,Product Type,Sku Id,Hardware,Buyer Country,Buyer State,\
        Buyer Postal Code,Buyer Currency,Amount (Buyer Currency),Currency Conversion Rate,\
        Merchant Currency,Amount (Merchant Currency)
        GPA.1,"Sep 10, 2026",1:00:00 AM PDT,,Charge,,Coins,com.example.app,inapp,coins,phone,KR,,,\
        KRW,"11,000.00",0.00072,USD,7.92
        GPA.1,"Sep 10, 2026",1:00:00 AM PDT,,Google fee,,Coins,com.example.app,inapp,coins,phone,KR,\
        ,,KRW,-1500.00,0.00072,USD,-1.08
        GPA.1,"Dec 1, 2026",12:30:00 PM PST,,Charge refund,Full,Coins,com.example.app,inapp,coins,,\
        KR,,,KRW,-11000,0.00072,USD,-7.92
        ,"Dec 31, 2026",,Withholding,Tax,,,,,,,,,,,,,USD,-0.27
        """

    private static func salesRows(
        _ bytes: [UInt8],
        _ name: String = "sales/salesreport_202605.csv"
    ) throws -> [GooglePlay.SalesRow] {
        guard case .sales(let rows) = try GooglePlay.Report(bytes, named: name).rows else {
            return []
        }
        return rows
    }

    @Test("Estimated sales are read by the names of their columns")
    func sales() throws {
        let report = try GooglePlay.Report(
            Array(Self.sales.utf8),
            named: "sales/salesreport_202605.csv"
        )
        #expect(report.kind == .sales && report.month == "2026-05")
        #expect(report.name == "salesreport_202605")
        let rows = try Self.salesRows(Array(Self.sales.utf8))
        #expect(rows.map(\.order) == ["GPA.1111-2222-3333-44444", "GPA.1111-2222-3333-44444..0"])
        #expect(rows.map(\.status) == [.charged, .partialRefund])
        // Amounts are millionths, without the sign of what went back.
        #expect(rows.map(\.charged) == [1_201_000_000, 1_190_000])
        #expect(rows.map(\.price) == [1_009_240_000, 1_000_000])
        #expect(rows.map(\.tax) == [191_760_000, 190_000])
        #expect(rows.map(\.instant) == [1_780_012_800_000, nil])
        #expect(rows.map(\.date.description) == ["2026-05-28", "2026-06-28"])
        #expect(rows.map(\.line) == [2, 4])
        #expect(
            rows.allSatisfy {
                $0.package == "com.example.app" && $0.product == "premium" && $0.country == "DE"
                    && $0.currency == "EUR"
            }
        )
    }

    @Test("Earnings are read with what each line is, and when")
    func earnings() throws {
        let report = try GooglePlay.Report(
            Array(Self.earnings.utf8),
            named: "earnings/earnings_202609_1234567890-1.csv"
        )
        guard case .earnings(let rows) = report.rows else {
            Issue.record("no earnings")
            return
        }
        #expect(report.month == "2026-09" && report.name == "earnings_202609_1234567890-1")
        #expect(rows.map(\.kind) == [.charge, .fee, .charge, .tax])
        #expect(rows.map(\.isRefund) == [false, false, true, false])
        #expect(rows.map(\.order) == ["GPA.1", "GPA.1", "GPA.1", ""])
        #expect(
            rows.map(\.buyerAmount) == [
                11_000_000_000, -1_500_000_000, -11_000_000_000, -270_000,
            ]
        )
        #expect(rows.map(\.merchantAmount) == [7_920_000, -1_080_000, -7_920_000, -270_000])
        #expect(rows.map(\.buyerCurrency) == ["KRW", "KRW", "KRW", "USD"])
        #expect(rows.map(\.rate) == ["0.00072", "0.00072", "0.00072", nil])
        // 08:00 UTC in summer, 20:30 UTC in winter.
        #expect(
            rows.map(\.instant) == [1_789_027_200_000, 1_789_027_200_000, 1_796_157_000_000, nil]
        )
    }

    @Test("Payouts are read, also where they say neither a number nor a month")
    func payouts() throws {
        let text = """
            Payout Date,Currency,Amount,Earnings Month,Payout ID
            "Jun 15, 2026",USD,"1,234.56",2026-05,PO.1
            2026-07-15,USD,10,,
            """
        guard
            case .payouts(let rows) = try GooglePlay.Report(
                Array(text.utf8),
                named: "payouts/payout_202606.csv"
            ).rows
        else {
            Issue.record("no payouts")
            return
        }
        #expect(rows.map(\.amount) == [1_234_560_000, 10_000_000])
        #expect(rows.map(\.month) == ["2026-05", ""])
        #expect(rows.map(\.id) == ["PO.1", ""])
        #expect(rows.map(\.date.description) == ["2026-06-15", "2026-07-15"])
    }

    @Test(
        "Payouts are read in each spelling of the sandbox's columns",
        arguments: [
            "Payout ID,Payout Date,Earnings Month,Payout Currency,Payout Amount\nPO.1,2026-06-15,2026-05,USD,8.49",
            "Payment ID,Payment Date,Earnings Month,Currency,Amount\nPO.1,2026-06-15,2026-05,USD,8.49",
            "Payment ID,Payment Date,Merchant Currency,Amount (Merchant Currency)\nPO.1,2026-06-15,USD,8.49",
        ]
    )
    func payoutColumns(_ text: String) throws {
        guard
            case .payouts(let rows) = try GooglePlay.Report(
                Array(text.utf8),
                named: "payouts/payout_202606.csv"
            ).rows
        else {
            Issue.record("no payouts")
            return
        }
        #expect(rows.map(\.id) == ["PO.1"] && rows.map(\.amount) == [8_490_000])
        #expect(rows.map(\.currency) == ["USD"])
    }

    @Test("Columns may stand anywhere, be spelled otherwise, and come with others")
    func columns() throws {
        let lines = Self.sales.split(separator: "\n").prefix(2)
        let plain = try Self.salesRows(Array(lines.joined(separator: "\n").utf8))
        let moved = """
            Charged Amount,SKU ID,Something new,order  number,Package ID,Product ID,\
            Order Charged Timestamp,Currency of Sale,Taxes Collected,Item Price,Order Charged Date,\
            Country of Buyer,Financial Status
            "1,201.00",premium,x,GPA.1111-2222-3333-44444,com.example.app,premium-1,1780012800,EUR,\
            191.76,"1,009.24",2026-05-28,DE,Charged
            """
        #expect(try Self.salesRows(Array(moved.utf8)) == plain)
    }

    @Test("UTF-16 and UTF-8 are read, with their marks and without")
    func encodings() throws {
        let plain = try Self.salesRows(Array(Self.sales.utf8))
        let units = Array(Self.sales.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [
            [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big,
            [0xEF, 0xBB, 0xBF] + Array(Self.sales.utf8),
            Array(Self.sales.replacing("\n", with: "\r\n").utf8),
        ] {
            #expect(try Self.salesRows(bytes) == plain)
        }
        #expect(throws: GooglePlay.ReportProblem.self) {
            try Self.salesRows([0xFF, 0xFE] + little.dropLast())
        }
        #expect(throws: GooglePlay.ReportProblem.self) {
            try Self.salesRows(Array("Order Number\n".utf8) + [0xC3, 0x28])
        }
    }

    @Test("A column that is missing is named, with the file, the line and what helps")
    func missingColumn() throws {
        let text = Self.sales.replacing("Charged Amount", with: "Montant")
        do {
            _ = try Self.salesRows(Array(text.utf8))
            Issue.record("not refused")
        } catch let problem as GooglePlay.ReportProblem {
            #expect(problem.file == "salesreport_202605.csv" && problem.line == 1)
            #expect(problem.message.contains("no column ‘Charged Amount’ among Order Number"))
            #expect(problem.message.contains("Download the report in English"))
        }
    }

    @Test(
        "A value that cannot be read is named with its line",
        arguments: [
            ("2026-05-28", "28.05.2026", "‘Order Charged Date’ is no date"),
            ("2026-05-28", "2026-02-30", "‘Order Charged Date’ is no date"),
            (#""1,201.00""#, #""1.201,00""#, "‘Charged Amount’ is no amount"),
            ("EUR", "€", "‘Currency of Sale’ is no currency"),
            ("GPA.1111-2222-3333-44444,", ",", "‘Order Number’ is empty"),
        ]
    )
    func wrongValue(_ old: String, _ new: String, _ message: String) throws {
        let text = Self.sales.replacing(old, with: new, maxReplacements: 1)
        do {
            _ = try Self.salesRows(Array(text.utf8))
            Issue.record("not refused")
        } catch let problem as GooglePlay.ReportProblem {
            #expect("\(problem)".hasPrefix("salesreport_202605.csv, line 2: \(message)"))
        }
    }

    private static let named: [(String, GooglePlay.Report.Kind?, String?)] = [
        ("sales/salesreport_202605.zip", .sales, "2026-05"),
        ("earnings_202612_1234-5.zip", .earnings, "2026-12"),
        ("PlayApps_202601.csv", .earnings, "2026-01"),
        ("payouts/anything_202606.csv", .payouts, "2026-06"),
        ("payouts.csv", .payouts, nil), ("sales/salesreport_202613.zip", .sales, nil),
        ("stats/installs_202605.csv", nil, "2026-05"), ("balance.csv", nil, nil),
    ]

    @Test("A name says which report it is of which month", arguments: named)
    func names(_ path: String, _ kind: GooglePlay.Report.Kind?, _ month: String?) {
        #expect(GooglePlay.Report.kind(of: path) == kind)
        #expect(GooglePlay.Report.month(of: path) == month)
    }

    @Test("A zip file that was cut is refused, with its name and what helps")
    func cutZip() throws {
        let zip = try #require(Data(base64Encoded: ZipArchiveTests.several))
        do {
            _ = try Self.salesRows(Array(zip.dropLast(40)), "sales/salesreport_202605.zip")
            Issue.record("not refused")
        } catch let problem as GooglePlay.ReportProblem {
            #expect(
                "\(problem)"
                    == "salesreport_202605.zip: the zip file ends too early; download it again."
            )
        }
    }
}
