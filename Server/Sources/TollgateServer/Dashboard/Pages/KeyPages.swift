internal import Foundation
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Secret keys of the app's backend, with their scopes.
struct KeyPages: DashboardPages {
    let request: DashboardRequest

    /// - Parameter made: a key that was just made, with its secret, shown this once.
    func keys(made: API.SecretKey?) async throws -> Response {
        try visit.require(.admin)
        let keys = try await tollgate.secretKeys.all().data.map { key -> Model in
            var model: Model = [
                "name": key.name, "id": key.id,
                "scopes": key.scopes.map(\.rawValue).joined(separator: ", "),
                "creator": key.createdBy, "isRevoked": key.revoked != nil,
                "since": formats.time(Instant(milliseconds: key.created)), "used": false,
            ]
            if let used = key.lastUsed {
                model["used"] = formats.time(Instant(milliseconds: used))
            }
            return model
        }
        return page(
            "dash_keys",
            words["nav_keys"],
            section: "keys",
            [
                "keys": keys, "hasKeys": !keys.isEmpty,
                "made": made.map { ["name": $0.name, "secret": $0.secret ?? ""] as Model }
                    ?? false,
                "allScopes": API.KeyScope.allCases.map { scope -> Model in
                    ["scope": scope.rawValue, "meaning": words.of("scope", scope.rawValue)]
                },
            ]
        )
    }

    func changeKeys(_ action: String, _ form: [String: String]) async throws -> Response {
        try visit.require(.admin)
        switch action {
        case "create":
            let wanted = API.SecretKeyRequest(
                name: (form["name"] ?? "").trimmingCharacters(in: .whitespaces),
                scopes: API.KeyScope.allCases.filter { form["scope_\($0.rawValue)"] != nil }
            )
            return try await keys(made: try await tollgate.secretKeys.create(wanted, by: actor))
        case "revoke":
            _ = try await tollgate.secretKeys.revoke(form["id"] ?? "", by: actor)
            return done("key_revoked", "/dashboard/keys")
        default: throw Refusal.nothingHere
        }
    }
}
