import Foundation

/// The state of a world in a file.
enum Snapshot {
    /// - Returns: `nil` if there is no such file.
    /// - Throws: if there is one and it cannot be read; it is never silently replaced.
    static func load(_ path: String?) throws -> World? {
        guard let path, FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return try JSONDecoder().decode(World.self, from: bytes)
    }

    /// Writes to a file beside it first, so that a crash leaves one or the other whole.
    static func save(_ world: World, to path: String) throws {
        try JSONEncoder().encode(world).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
