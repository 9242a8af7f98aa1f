import Foundation
import Hummingbird
import Testing
import TollgateServer

/// docs/attacks.md says which attacks concern which route.
@Suite("The attack list")
struct AttackListTests {
    /// One row: a route, and the attacks that it is named with.
    private struct Row {
        var route: String
        var attacks: Set<String>
    }

    private static let document: [Substring] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/attacks.md")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n")
    }()

    private static let defined = Set(
        document.filter { $0.contains(/^\| [A-Z]\d/) }.flatMap { line in
            line.split(separator: "|")[0].matches(of: /[A-Z]\d+/).map { String($0.output) }
        }
    )

    private static let rows: [Row] = {
        let lines = document.drop { $0 != "## Which attacks concern which route" }.dropFirst()
        return lines.prefix { !$0.hasPrefix("##") }.filter { $0.hasPrefix("| `") }.flatMap { line in
            let cells = line.split(separator: "|")
            var attacks: Set<String> = []
            for part in cells[1].split(separator: ",") {
                let ends = part.matches(of: /([A-Z])(\d+)/).map {
                    (String($0.output.1), Int($0.output.2) ?? 0)
                }
                guard let first = ends.first, let last = ends.last else { continue }
                attacks.formUnion((first.1...last.1).map { "\(first.0)\($0)" })
            }
            return cells[0].matches(of: /`([^`]+)`/).map {
                Row(route: String($0.output.1), attacks: attacks)
            }
        }
    }()

    @Test("Every route has a row, and every row a route and attacks of the list")
    func complete() async throws {
        try await TestServer.run { server in
            let routes = Set(
                try buildRouter(server.tollgate).routes.map { route in
                    let path = "\(route.path)"
                    let isAsset = path.hasPrefix("/dashboard/assets/")
                    return "\(route.method.rawValue) "
                        + (isAsset ? "/dashboard/assets/{name}" : path)
                }
            )
            #expect(Set(Self.rows.map(\.route)).symmetricDifference(routes) == [])
            #expect(Self.rows.count == routes.count)
            for row in Self.rows {
                #expect(!row.attacks.isEmpty, "\(row.route)")
                #expect(row.attacks.subtracting(Self.defined) == [], "\(row.route)")
            }
        }
    }

    @Test("A route is named with the attacks on those who may ask there")
    func fitting() {
        for operation in OpenAPIDocument.ofServer.operations {
            let route = "\(operation.method) \(operation.template)"
            let attacks = Self.rows.first { $0.route == route }?.attacks ?? []
            if operation.security.contains("secretKey") {
                #expect(attacks.contains("Z1"), "\(route)")
            }
            if operation.template.hasPrefix("/webhooks/app_store") {
                #expect(attacks.contains("J8"), "\(route)")
            }
            if operation.security.contains("customerSession"), operation.method == "POST" {
                #expect(attacks.contains("L1"), "\(route)")
            }
        }
    }
}
