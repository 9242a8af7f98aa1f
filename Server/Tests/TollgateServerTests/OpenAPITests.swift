import Hummingbird
import Foundation
import HTTPTypes
import Testing
import TollgateServer

@Suite("The OpenAPI document")
struct OpenAPITests {
    @Test("The server serves the document as it lies in the repository")
    func served() async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/openapi.json", as: nil)
            #expect(answer.status == 200)
            #expect(answer.json == OpenAPIDocument.ofServer.root)
            #expect(answer.json["openapi"].string == "3.1.0")
        }
    }

    @Test("It describes every route of the server but the dashboard's pages, and no other")
    func describesTheRoutes() async throws {
        try await TestServer.run { server in
            let routes = try buildRouter(server.tollgate).routes
                .filter { !"\($0.path)".hasPrefix("/dashboard") }
                .map { "\($0.method.rawValue) \($0.path)" }
            let described = OpenAPIDocument.ofServer.operations.map {
                "\($0.method) \($0.template)"
            }
            #expect(Set(described) == Set(routes))
            #expect(described.count == routes.count)
        }
    }

    @Test("Every path that it describes is answered by that path")
    func describedPathsAreRouted() async throws {
        try await TestServer.run { server in
            for operation in OpenAPIDocument.ofServer.operations {
                let method = try #require(HTTPRequest.Method(operation.method))
                let answer = try await server.send(method, operation.path(id: "x"), as: nil)
                // A page of its own is an answer too: nobody sells "x".
                let isPage = answer.headers[.contentType]?.hasPrefix("text/html") ?? false
                #expect(
                    ![404, 405].contains(answer.status) || isPage,
                    "\(method) \(operation.template)"
                )
            }
        }
    }

    @Test("Every schema that it names is there, and every one that is there is named")
    func schemasAreUsed() {
        let document = OpenAPIDocument.ofServer
        let named = Self.references(in: document.root)
        let kinds = ["schemas", "parameters"].flatMap { kind in
            (document.root["components"][kind].object ?? [:]).keys.map {
                "#/components/\(kind)/\($0)"
            }
        }
        #expect(named == Set(kinds))
    }

    @Test("Null is refused wherever the document does not allow it")
    func nulls() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let endpoint = try await WebhookDeliveryTests.endpoint(server).id
            let before = try await server.rowCounts()
            var tried = 0
            for operation in OpenAPIDocument.ofServer.operations where operation.method == "POST" {
                let content = operation.content["requestBody"]["content"]["application/json"]
                let path = operation.template
                    .replacing(
                        "/v1/webhook_endpoints/{id}",
                        with: "/v1/webhook_endpoints/\(endpoint)"
                    )
                    .replacing("/v1/buy_buttons/{id}", with: "/v1/buy_buttons/buy_coins_100")
                    .replacing("{id}", with: id)
                guard path.hasPrefix("/v1/") else { continue }
                for place in OpenAPIDocument.ofServer.neverNull(in: content["schema"]) {
                    var body = "null"
                    for part in place.reversed() {
                        body = part == "[]" ? "[\(body)]" : "{\"\(part)\":\(body)}"
                    }
                    for key in [TestServer.secretKey, session] {
                        let answer = try await server.post(path, as: key, body)
                        if [401, 403].contains(answer.status) { continue }
                        #expect(answer.status == 400, "\(path) \(body) \(answer.text)")
                        tried += 1
                    }
                }
            }
            #expect(tried > 50)
            #expect(try await server.rowCounts() == before)
        }
    }

    private static func references(in value: JSONValue) -> Set<String> {
        switch value {
        case .object(let object):
            object.reduce(into: []) { found, member in
                if member.key == "$ref", let name = member.value.string { found.insert(name) }
                found.formUnion(references(in: member.value))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(references(in: $1)) }
        default: []
        }
    }
}
