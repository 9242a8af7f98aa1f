internal import HTTPTypes
internal import Hummingbird

/// Which methods an address takes, for the answer to one that it does not (405 and `Allow`).
struct AllowedMethods: Sendable {
    private var methods: [(template: [Substring], method: String)]

    init(_ routes: [Router<ServerRequestContext>.RouteDescription]) {
        methods = routes.map { ($0.path.description.split(separator: "/"), $0.method.rawValue) }
    }

    /// The methods of the route that `path` names, sorted; empty where there is none.
    func methods(at path: String) -> [String] {
        let components = path.split(separator: "/")
        var found = Set(methods.filter { Self.matches($0.template, components) }.map(\.method))
        if found.contains(HTTPRequest.Method.get.rawValue) {
            found.insert(HTTPRequest.Method.head.rawValue)
        }
        return found.sorted()
    }

    private static func matches(_ template: [Substring], _ path: [Substring]) -> Bool {
        template.count == path.count
            && zip(template, path).allSatisfy { $0.first == "{" || $0 == $1 }
    }
}
