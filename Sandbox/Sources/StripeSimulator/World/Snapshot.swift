import Foundation
import SandboxClock

/// The state of a world in a file: a first line with all of it, then a line for each change.
///
/// A change is written before it is answered for. A line that a killed process left half written was
/// never answered for and is passed over.
struct Snapshot: Sendable {
    private let path: String
    private let handle: FileHandle
    /// The rest of the world as it was written last.
    private var frame: World.Frame
    /// How many bytes the first line takes, and how many those after it.
    private var length: (whole: Int, changes: Int)

    /// - Returns: `nil` if there is no such file.
    /// - Throws: `StateFile.Problem` if there is one and it cannot be read; it is never silently
    ///   replaced.
    static func load(_ path: String?) throws -> World? {
        guard let path, FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try read(path)
        } catch {
            throw StateFile.Problem.unreadable(path)
        }
    }

    private static func read(_ path: String) throws -> World {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
        let decoder = JSONDecoder()
        var world = try decoder.decode(World.self, from: lines.first ?? Data())
        for (index, line) in lines.enumerated().dropFirst() {
            // What follows the last line's end was being written when the process was killed.
            if index == lines.count - 1, bytes.last != UInt8(ascii: "\n") { break }
            world.take(try decoder.decode(World.Step.self, from: line))
        }
        return world
    }

    /// Writes to a file beside it first, so that a crash leaves one or the other whole.
    static func save(_ world: World, to path: String) throws {
        try whole(world).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func whole(_ world: World) throws -> Data {
        try JSONEncoder().encode(world) + [UInt8(ascii: "\n")]
    }

    /// Writes all of `world` to `path` and is ready for what changes from then on.
    init(_ world: inout World, at path: String) throws {
        _ = try StateFile(path)
        let whole = try Self.whole(world)
        try whole.write(to: URL(fileURLWithPath: path), options: .atomic)
        self.path = path
        handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        frame = world.frame
        length = (whole.count, 0)
        world.unsaved = Unsaved()
    }

    /// Writes what changed in `world` since it was written last.
    ///
    /// Once changes take several times the room of the whole, that is written anew.
    mutating func save(_ world: inout World) throws {
        guard length.changes < max(4 * length.whole, 4 << 20) else {
            let former = handle
            self = try Snapshot(&world, at: path)
            try former.close()
            return
        }
        let line = try JSONEncoder().encode(world.step(since: frame)) + [UInt8(ascii: "\n")]
        do {
            try handle.write(contentsOf: line)
        } catch {
            // As on a full disk. Half a line must not stand before the next one.
            try handle.truncate(atOffset: UInt64(length.whole + length.changes))
            throw error
        }
        length.changes += line.count
        frame = world.frame
        world.unsaved = Unsaved()
    }
}
