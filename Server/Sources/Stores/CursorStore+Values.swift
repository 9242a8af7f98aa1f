internal import Foundation
public import Storage
internal import TollgateAPI
public import TollgateCore

extension CursorStore {
    /// The value that was kept under `name`; `nil` where there is none, and for one of an earlier
    /// program in another form: that costs the work again, not a failure.
    public func value<Value: Decodable>(
        _ name: String,
        as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await read(name).flatMap { try? APIJSON.decode(type, from: Data($0.body)) }
    }

    /// Keeps a value as `keep` keeps a place.
    public func keep(_ name: String, value: some Encodable, now: Instant) async throws {
        try await keep(name, Array(try APIJSON.encode(value)), now: now)
    }
}
