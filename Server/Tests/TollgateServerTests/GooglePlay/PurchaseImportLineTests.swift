import Stores
import Testing
import TollgateAPI

@testable import GooglePlayConnector

/// Lines of files that `tollgate import google-play` takes.
@Suite("Lines of an import of purchases")
struct PurchaseImportLineTests {
    private static let token = "token-of-a-purchase"

    private static func read(
        _ line: String,
        heading: String? = nil
    ) throws(ImportProblem) -> PurchaseImportLine? {
        typealias Line = ImportLine<PurchaseImportLine.Column>
        let columns = heading.flatMap { Line.columns(ofHeading: Array($0.utf8)) }
        guard let read = try Line(Array(line.utf8), under: columns) else { return nil }
        return try PurchaseImportLine(read)
    }

    @Test(
        "name a purchase by its token or its order id, in CSV or JSON",
        arguments: [
            ("\(token),premium,subscription,anna", nil, "premium", "anna"),
            ("\(token),,,anna\r", nil, nil, "anna"), ("\(token),anna", nil, nil, "anna"),
            ("anna,\(token)", "app_user_id,purchase_token", nil, "anna"),
            ("anna,\(token)", "\u{FEFF}app_user_id,purchase_token", nil, "anna"),
            (" anna , \(token)", "App_User_ID, Purchase_Token", nil, "anna"),
            (#"\#(token),"anna, ""the first""""#, nil, nil, #"anna, "the first""#),
            (
                #"{"purchase_token":"\#(token)","app_user_id":"anna","product_id":"premium"}"#, nil,
                "premium", "anna"
            ),
        ] as [(String, String?, String?, String)]
    )
    func taken(_ line: String, _ heading: String?, _ product: String?, _ user: String) throws {
        let read = try #require(try Self.read(line, heading: heading))
        #expect(read.subject == .token(Self.token))
        #expect(read.productID == product && read.appUserID == user)
    }

    @Test("Order ids stand in the column of tokens or in one of their own")
    func orders() throws {
        let order = "GPA.3345-1234-5678-90123..2"
        #expect(try Self.read("\(order),anna")?.subject == .order(order))
        #expect(try Self.read("\(order)", heading: "order_id")?.subject == .order(order))
        #expect(try Self.read("") == nil)
    }

    @Test(
        "that name none say what to write instead",
        arguments: [
            ("a,b,c", "write purchase_token,product_id,kind,app_user_id"),
            ("{", "write one object a line"), (",,,anna", "give one of them"),
            ("to ken,,,anna", "compare the columns"), ("GPA./../x,,,anna", "look like GPA.1234"),
            ("\(token),,both,anna", "neither subscription nor one_time"),
            (#"\#(token),"anna"#, "opened and not closed"),
            ("purchase_token,app_user_id\r\(token),anna", "line ends LF or CRLF"),
        ]
    )
    func refused(_ line: String, _ words: String) {
        do {
            _ = try Self.read(line)
            Issue.record("taken: \(line)")
        } catch {
            #expect(error.reason.contains(words), "\(error.reason)")
        }
    }
}
