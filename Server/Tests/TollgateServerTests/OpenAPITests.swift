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
