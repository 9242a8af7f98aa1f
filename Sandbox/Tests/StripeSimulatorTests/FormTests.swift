import Testing

@testable import StripeSimulator

@Suite struct FormTests {
    static let sameList: [String] = [
        "items[0][price]=p&items[0][quantity]=2&items[1][price]=q",
        "items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Bquantity%5D=2&items%5B1%5D%5Bprice%5D=q",
        "items[][price]=p&items[][quantity]=2&items[][price]=q",
    ]

    @Test(arguments: sameList)
    func bracketsAreReadHoweverTheyAreWritten(_ text: String) {
        let expected: Form = .fields([
            "0": .fields(["price": .text("p"), "quantity": .text("2")]),
            "1": .fields(["price": .text("q")]),
        ])
        #expect(Form.decode(text) == ["items": expected])
    }

    @Test func plusAndPercentAreText() {
        #expect(
            Form.decode("a=one+two%26three&b=") == ["a": .text("one two&three"), "b": .text("")]
        )
    }

    @Test(arguments: ["a[b=1", "[x]=1", "a%ZZ=1", "a[b]c=1"])
    func whatDoesNotMatchUpIsRefused(_ text: String) {
        #expect(Form.decode(text) == nil)
    }

    @Test func nestingWithoutEndIsRefused() {
        let name = "a" + String(repeating: "[b]", count: 5_000)
        #expect(Form.decode("\(name)=1") == nil)
    }

    @Test func whatNobodyTakesIsAnUnknownParameter() throws {
        var parameters = Parameters(Form.decode("name=x&items[0][colour]=red") ?? [:])
        _ = try parameters.string("name")
        #expect(throws: APIError.self) {
            _ = try parameters.objects("items") { try $0.string("price") }
        }
        do {
            _ = try Parameters(Form.decode("items[0][colour]=red") ?? [:]).finish()
        } catch let error as APIError {
            #expect(error.code == "parameter_unknown")
            #expect(error.parameter == "items")
        }
    }
}
