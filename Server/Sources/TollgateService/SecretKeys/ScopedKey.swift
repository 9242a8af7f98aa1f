internal import Storage
internal import Stores
internal import Synchronization
public import TollgateAPI
internal import TollgateCore

/// A secret key with scopes, known by its secret.
public struct ScopedKey: Hashable, Sendable {
    public var id: String
    public var scopes: Set<API.KeyScope>

    init(_ key: StoredSecretKey) {
        id = key.id
        scopes = Set(
            key.scopes.split(separator: ",").compactMap { API.KeyScope(rawValue: "\($0)") }
        )
    }

    /// - Parameter scope: `nil` where none is needed.
    /// - Throws: a refusal 403 `…_scope_required`, such as `coins_scope_required`.
    public func require(_ scope: API.KeyScope?) throws {
        guard let scope, !scopes.contains(scope), !scopes.contains(.all) else { return }
        throw Refusal(
            403,
            APIError.Code(rawValue: "\(scope.rawValue)_scope_required"),
            "The key \(id) lacks the scope '\(scope.rawValue)'. Use a key that has it, or make one: tollgate keys create NAME --scope \(scope.rawValue)."
        )
    }
}

/// When each key was used last, until that is written.
///
/// In memory, so that a read with such a key writes nothing.
final class KeyUses: Sendable {
    private let uses = Mutex<[String: Instant]>([:])

    func note(_ id: String, at now: Instant) {
        uses.withLock { $0[id] = now }
    }

    func take() -> [String: Instant] {
        uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
    }
}
