import AppStoreAPI
import Crypto
import Foundation
import Testing

@Suite("Reports of App Store Connect")
struct ConnectReportTests {
    private func report(_ columns: [String], _ lines: [[String]]) -> [UInt8] {
        let text = ([columns] + lines).map { $0.joined(separator: "\t") }.joined(separator: "\n")
        return Array((text + "\n").utf8)
    }

    static let sales = [
        "Provider", "SKU", "Title", "Product Type Identifier", "Units", "Developer Proceeds",
        "Begin Date", "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
        "Apple Identifier", "Customer Price", "A column of tomorrow",
    ]
    static let sale = [
        "APPLE", "com.example.pro", "Pro", "IAY", "-2", "6.99", "06/01/2026", "06/01/2026",
        "USD", "US", "USD", "1234567890", "-9.99", "x",
    ]

    @Test("columns are found by name, whatever their order, and unknown ones are passed over")
    func byName() throws {
        let straight = try AppStore.ConnectReport(report(Self.sales, [Self.sale]))
        let turned = try AppStore.ConnectReport(
            report(Self.sales.reversed(), [Self.sale.reversed()])
        )
        #expect(straight == turned)
        #expect(straight.kind == .sales)
        guard case .sales(let row)? = straight.rows.first else {
            Issue.record("no row")
            return
        }
        #expect(row.sku == "com.example.pro")
        #expect(row.units == -2)
        #expect(row.customerPrice == AppStore.ReportAmount(millionths: -9_990_000))
        #expect(row.developerProceeds == AppStore.ReportAmount(millionths: 6_990_000))
        #expect(row.beginDate.description == "2026-06-01")
        #expect(row.subscription == nil)
    }

    @Test(
        "what cannot be read is refused with its line and column",
        arguments: [
            (4, "two", "line 2: a value cannot be read: ‘Units’ is no whole number: two"),
            (4, "1.5", "line 2: a value cannot be read: ‘Units’ is no whole number: 1.5"),
            (5, "6,99", "line 2: a value cannot be read: ‘Developer Proceeds’ is no amount: 6,99"),
            (6, "2026", "line 2: a value cannot be read: ‘Begin Date’ is no date: 2026"),
            (1, "", "line 2: a value cannot be read: ‘SKU’ is empty"),
        ]
    )
    func unreadable(_ index: Int, _ value: String, _ message: String) {
        var line = Self.sale
        line[index] = value
        let error = #expect(throws: AppStore.ConnectReportError.self) {
            try AppStore.ConnectReport(report(Self.sales, [line]))
        }
        #expect(error?.description == message)
    }

    @Test("a missing column is named, and what is no report is refused")
    func notAReport() {
        let missing = #expect(throws: AppStore.ConnectReportError.self) {
            try AppStore.ConnectReport(
                report(Array(Self.sales.dropLast(2)), [Array(Self.sale.dropLast(2))])
            )
        }
        #expect(missing?.description == "line 2: a column is missing: ‘Customer Price’")
        for (bytes, reason) in [
            (Array("hello".utf8), AppStore.ConnectReportError.Reason.noHeader), ([], .noHeader),
            (Array("a\tb\n1\t2\n".utf8), .unknownReport), ([0x1F, 0x8B, 8, 0], .notGzip),
            ([0xFF, 0xFE, 0x09], .notText),
        ] {
            let error = #expect(throws: AppStore.ConnectReportError.self) {
                try AppStore.ConnectReport(bytes)
            }
            #expect(error?.reason == reason)
        }
    }

    @Test("totals at the end of a financial report are no rows")
    func totals() throws {
        let columns = [
            "Start Date", "End Date", "Vendor Identifier", "Quantity", "Partner Share",
            "Extended Partner Share", "Partner Share Currency", "Sales or Return",
            "Apple Identifier", "Country Of Sale", "Customer Price",
        ]
        let line = [
            "05/31/2026", "06/27/2026", "com.example.pro", "3", "6.99", "20.97", "USD", "R",
            "1234567890", "US", "9.99",
        ]
        let report = try AppStore.ConnectReport(
            report(columns, [line, ["Total_Rows", "1"], ["", ""], ["Total_Units", "3"]])
        )
        #expect(report.kind == .financial)
        guard case .financial(let row)? = report.rows.first, report.rows.count == 1 else {
            Issue.record("\(report.rows.count) rows")
            return
        }
        #expect(row.isReturn)
        #expect(row.extendedPartnerShare == AppStore.ReportAmount(millionths: 20_970_000))
    }

    @Test(
        "amounts are exact",
        arguments: [
            ("0", 0), ("6.99", 6_990_000), ("-0.000001", -1), (".5", 500_000),
            ("5.", 5_000_000), ("9.9900000", 9_990_000), ("1.0000001", nil), ("", nil),
            (".", nil), ("1e3", nil), ("+1", nil), ("99999999999999999999", nil), ("٣", nil),
            ("1.2.3", nil), ("-", nil), ("9223372036854", 9_223_372_036_854_000_000),
        ] as [(String, Int64?)]
    )
    func amounts(_ text: String, _ millionths: Int64?) {
        #expect(AppStore.ReportAmount(text)?.millionths == millionths)
    }

    @Test(
        "days in all their spellings",
        arguments: [
            ("06/01/2026", "2026-06-01"), ("6/1/2026", "2026-06-01"),
            ("2026-06-01", "2026-06-01"), ("20260601", "2026-06-01"), ("2026-13-01", nil),
            ("06-01-2026", nil), ("", nil), ("2026", nil),
        ] as [(String, String?)]
    )
    func days(_ text: String, _ day: String?) {
        #expect(AppStore.ReportDay(text)?.description == day)
    }

    @Test("the client asks as documented, with a token of the team")
    func client() async throws {
        let store = ServerAPITests.Store([
            .init(status: 200, body: [1, 2]), .init(status: 404), .init(status: 403),
        ])
        let client = AppStore.ConnectClient(
            key: AppStore.APIKey(
                issuerID: "issuer",
                keyID: "ABCDEFGHIJ",
                privateKey: P256.Signing.PrivateKey()
            ),
            vendorNumber: "87654321",
            host: "https://connect.test/",
            transport: { try await store.answer($0) },
            now: { 1_760_000_000_000 }
        )
        let sales = try await client.salesReport(.init(.subscriber, date: "2026-06-01"))
        #expect(sales == [1, 2])
        #expect(try await client.financeReport(month: "2026-05") == nil)
        let refused = await #expect(throws: AppStore.ServerAPIError.self) {
            _ = try await client.salesReport(.init(.sales, frequency: .yearly, date: "2025"))
        }
        #expect(refused?.isRetryable == false)
        let asked = await store.requests
        #expect(
            asked.map(\.url) == [
                "https://connect.test/v1/salesReports?filter%5Bfrequency%5D=DAILY&filter%5BreportDate%5D=2026%2D06%2D01&filter%5BreportSubType%5D=DETAILED&filter%5BreportType%5D=SUBSCRIBER&filter%5BvendorNumber%5D=87654321&filter%5Bversion%5D=1%5F3",
                "https://connect.test/v1/financeReports?filter%5BregionCode%5D=ZZ&filter%5BreportDate%5D=2026%2D05&filter%5BreportType%5D=FINANCIAL&filter%5BvendorNumber%5D=87654321",
                "https://connect.test/v1/salesReports?filter%5Bfrequency%5D=YEARLY&filter%5BreportDate%5D=2025&filter%5BreportSubType%5D=SUMMARY&filter%5BreportType%5D=SALES&filter%5BvendorNumber%5D=87654321&filter%5Bversion%5D=1%5F0",
            ]
        )
        let claims = try #require(
            asked[0].headers["Authorization"]?.split(separator: ".").dropFirst().first
        )
        var base64 = claims.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        let json = String(decoding: try #require(Data(base64Encoded: base64)), as: UTF8.self)
        #expect(
            json
                == "{\"iss\":\"issuer\",\"iat\":1760000000,\"exp\":1760000600,\"aud\":\"appstoreconnect-v1\"}"
        )
    }
}
