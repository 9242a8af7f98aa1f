import Testing

@testable import StripeSimulator

@Suite struct WorldTests {
    private func world(seed: UInt64 = 7) -> World {
        World(now: 1_767_225_600, seed: seed, apiVersion: "2026-09-30.endive")
    }

    private func call(
        _ world: inout World,
        _ method: String,
        _ path: String,
        _ body: String = "",
        key: String = "sk_test_1",
        idempotencyKey: String? = nil
    ) -> (status: Int, json: JSON) {
        let response = world.answer(
            APIRequest(
                method: method,
                path: path,
                body: body,
                authorization: "Bearer \(key)",
                idempotencyKey: idempotencyKey
            ),
            keys: ["sk_test_1"],
            wall: 0
        )
        let json = (try? JSON(parsing: .init(response.body.utf8))) ?? .null
        return (response.status, json)
    }

    @Test func theSameSeedGivesTheSameIds() {
        var (one, two, other) = (world(), world(), world(seed: 8))
        let ids = (
            call(&one, "POST", "/v1/customers").json["id"],
            call(&two, "POST", "/v1/customers").json["id"],
            call(&other, "POST", "/v1/customers").json["id"]
        )
        #expect(ids.0 == ids.1)
        #expect(ids.0 != ids.2)
    }

    @Test func aRefusedRequestLeavesNothingBehind() {
        var world = world()
        let answer = call(&world, "POST", "/v1/customers", "name=a&colour=red")
        #expect(answer.status == 400)
        #expect(world.all(.customer).isEmpty)
        #expect(world.all(.event).isEmpty)
    }

    @Test func previousAttributesHoldOldValuesOfWhatChanged() {
        let before: JSON = [
            "name": "a", "metadata": ["x": "1", "y": "2"], "same": 1,
            "items": ["object": "list", "data": [1, 2]], "_note": 1,
        ]
        let after: JSON = [
            "name": "b", "metadata": ["x": "1", "y": "3"], "same": 1,
            "items": ["object": "list", "data": [1]], "_note": 2,
        ]
        #expect(
            World.previousAttributes(before, after)
                == ["name": "a", "metadata": ["y": "2"], "items": ["data": [1, 2]]]
        )
        #expect(World.previousAttributes(before, before) == nil)
    }

    @Test func anUnknownAddressIsNamedInTheError() {
        var world = world()
        let answer = call(&world, "GET", "/v1/unicorns")
        #expect(answer.status == 404)
        #expect(answer.json["error"]["message"].text.contains("(GET: /v1/unicorns)"))
    }

    @Test func aWrongKeyIsRefusedBeforeAnythingElse() {
        var world = world()
        #expect(call(&world, "POST", "/v1/customers", key: "sk_test_2").status == 401)
    }

    @Test(arguments: [
        "amount=abc&currency=usd", "amount=49&currency=usd", "currency=usd",
        "amount=99999999999999999999&currency=usd", "amount=1e9&currency=usd",
    ])
    func strangeAmountsAreRefused(_ body: String) {
        var world = world()
        #expect(call(&world, "POST", "/v1/payment_intents", body).status == 400)
    }

    @Test func methodTypesAreRefusedFromEndiveOn() {
        var world = world()
        let body = "amount=500&currency=usd&payment_method_types[0]=card"
        let answer = call(&world, "POST", "/v1/payment_intents", body)
        #expect(answer.json["error"]["code"] == "payment_method_types_no_longer_supported")
    }

    @Test func expansionThatLeadsNowhereIsRefused() {
        var world = world()
        let answer = call(&world, "POST", "/v1/customers", "expand[0]=nothing")
        #expect(answer.status == 400)
        #expect(world.all(.customer).isEmpty)
    }

    @Test func theWorldSurvivesBeingWrittenAndRead() throws {
        var world = world()
        world.preload(.sample)
        _ = call(&world, "POST", "/v1/customers", "email=jenny@example.com")
        let path = FileSystem.temporary("world.json")
        defer { FileSystem.remove(path) }
        try Snapshot.save(world, to: path)
        var read = try #require(try Snapshot.load(path))
        #expect(read.all(.customer) == world.all(.customer))
        #expect(
            call(&read, "POST", "/v1/customers").json["id"]
                == call(&world, "POST", "/v1/customers").json["id"]
        )
    }

    @Test func aBrokenStateFileIsAnErrorAndStays() throws {
        let path = FileSystem.temporary("broken.json")
        defer { FileSystem.remove(path) }
        try FileSystem.write("{", to: path)
        #expect(throws: (any Error).self) { _ = try Snapshot.load(path) }
    }

    @Test func jsonTextEscapesWhatMustBeEscaped() throws {
        let value: JSON = ["b": "a\"\\\n\u{1}é", "id": "x", "a": [1, .double(0.5), .null, true]]
        #expect(value.rendered == #"{"id":"x","a":[1,0.5,null,true],"b":"a\"\\\n\u0001é"}"#)
        #expect(try JSON(parsing: .init(value.rendered.utf8)) == value)
    }
}
