import Foundation
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
        idempotencyKey: String? = nil,
        version: String? = nil
    ) -> (status: Int, json: JSON) {
        var request = APIRequest(
            method: method,
            path: path,
            body: body,
            authorization: "Bearer \(key)",
            idempotencyKey: idempotencyKey
        )
        request.version = version
        let response = API.answer(&world, request, keys: ["sk_test_1"], wall: 0)
        #expect(response.headers["stripe-version"] == version ?? "2026-09-30.endive")
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

    /// Calls that may say by which methods somebody pays.
    private static let withMethodTypes = [
        ("/v1/payment_intents", "amount=500&currency=usd"), ("/v1/setup_intents", ""),
        (
            "/v1/checkout/sessions",
            "mode=payment&success_url=https://example.com&line_items[0][quantity]=1"
                + "&line_items[0][price_data][currency]=usd"
                + "&line_items[0][price_data][unit_amount]=500"
                + "&line_items[0][price_data][product_data][name]=Coins"
        ),
    ]

    @Test(arguments: withMethodTypes)
    func methodTypesAreRefusedFromEndiveOn(_ path: String, _ form: String) {
        let body = form + "&payment_method_types[0]=card"
        for version in [nil, "2026-09-30.endive"] {
            var world = world()
            let answer = call(&world, "POST", path, body, version: version)
            #expect(answer.status == 400)
            #expect(answer.json["error"]["code"] == "payment_method_types_no_longer_supported")
            #expect(answer.json["error"]["param"] == "payment_method_types")
        }
        for version in ["2026-06-24.dahlia", "2025-07-30.basil"] {
            var world = world()
            let answer = call(&world, "POST", path, body, version: version)
            #expect(answer.status == 200, "\(version)")
            #expect(answer.json["payment_method_types"] == ["card"], "\(version)")
        }
    }

    @Test(arguments: [
        ("hosted", "hosted_page"), ("embedded", "embedded_page"), ("custom", "elements"),
    ])
    func theModesOfCheckoutHaveOtherNamesFromDahliaOn(_ old: String, _ new: String) {
        func mode(_ name: String?, _ version: String?) -> (status: Int, mode: JSON, param: JSON) {
            var world = world()
            let body = Self.withMethodTypes[2].1 + (name.map { "&ui_mode=\($0)" } ?? "")
            let answer = call(&world, "POST", "/v1/checkout/sessions", body, version: version)
            return (answer.status, answer.json["ui_mode"], answer.json["error"]["param"])
        }
        for version in ["2026-02-25.clover", "2025-07-30.basil"] {
            #expect(mode(old, version).mode == .string(old))
            #expect(mode(new, version).status == 400 && mode(new, version).param == "ui_mode")
            #expect(mode(nil, version).mode == "hosted")
        }
        for version in [nil, "2026-03-25.dahlia", "2026-09-30.endive"] {
            #expect(mode(new, version).mode == .string(new))
            #expect(mode(old, version).status == 400 && mode(old, version).param == "ui_mode")
            #expect(mode(nil, version).mode == "hosted_page")
        }
    }

    @Test func expansionThatLeadsNowhereIsRefused() {
        var world = world()
        let answer = call(&world, "POST", "/v1/customers", "expand[0]=nothing")
        #expect(answer.status == 400)
        #expect(world.all(.customer).isEmpty)
    }

    @Test func theWorldSurvivesBeingWrittenAndRead() throws {
        var world = world()
        Preload.add(&world, .sample)
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

@Suite struct SnapshotTests {
    private func post(_ world: inout World, _ path: String, _ body: String = "") -> JSON {
        let request = APIRequest(
            method: "POST",
            path: path,
            body: body,
            authorization: "Bearer sk_test_1",
            idempotencyKey: "key-\(path)-\(body)"
        )
        let response = API.answer(&world, request, keys: ["sk_test_1"], wall: 0)
        return (try? JSON(parsing: .init(response.body.utf8))) ?? .null
    }

    @Test func whatIsWrittenStepByStepReadsAsTheWorldThatWroteIt() throws {
        let path = FileSystem.temporary("steps.json")
        defer { FileSystem.remove(path) }
        var world = World(now: 1_767_225_600, seed: 7, apiVersion: "2026-09-30.endive")
        Preload.add(&world, .sample)
        var snapshot = try Snapshot(&world, at: path)
        let kept = post(&world, "/v1/customers", "name=kept")["id"].text
        let gone = post(&world, "/v1/products", "name=gone")["id"].text
        _ = WebhookEndpoints.add(&world, url: "http://127.0.0.1:1", events: ["*"])
        try snapshot.save(&world)
        _ = world.delete(.product, gone)
        _ = post(&world, "/v1/customers/\(kept)", "name=renamed")
        world.faults.drop = 0.5
        world.nextPayout = nil
        world.perform(at: world.now + 100)
        try snapshot.save(&world)

        let read = try #require(try Snapshot.load(path))
        #expect(read.frame == world.frame)
        #expect(read.replies == world.replies)
        for kind in Kind.allCases { #expect(read.all(kind) == world.all(kind), "\(kind)") }
        #expect(read.get(.customer, kept)?["name"] == "renamed")
        #expect(read.get(.product, gone) == nil)
    }

    @Test func aLineThatWasHalfWrittenIsPassedOver() throws {
        let path = FileSystem.temporary("torn.json")
        defer { FileSystem.remove(path) }
        var world = World(now: 1_767_225_600, seed: 7, apiVersion: "2026-09-30.endive")
        var snapshot = try Snapshot(&world, at: path)
        _ = post(&world, "/v1/customers", "name=whole")
        try snapshot.save(&world)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        _ = post(&world, "/v1/customers", "name=torn")
        try snapshot.save(&world)
        let all = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in [whole.count, whole.count + 1, (whole.count + all.count) / 2, all.count - 1] {
            try all.prefix(length).write(to: URL(fileURLWithPath: path))
            let names = try Snapshot.load(path)?.all(.customer).map { $0["name"].text }
            #expect(names == ["whole"], "\(length) of \(all.count) bytes")
        }
    }
}
