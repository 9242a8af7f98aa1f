public import Foundation

/// The file in which a simulator keeps its state between runs.
public struct StateFile: Sendable {
    /// A state file that cannot be used; the description says what to do.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// A file that holds something else.
        public static func unreadable(_ path: String) -> Problem {
            Problem(
                description: "\(path) is not the state of such a sandbox; move it away to begin "
                    + "anew, or choose another file with --state"
            )
        }
    }

    public let path: String

    /// - Throws: `Problem` where the file could not be written.
    public init(_ path: String) throws(Problem) {
        self.path = path
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
            isFolder.boolValue
        else {
            throw Problem(description: "\(path): there is no folder \(folder); make it first")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw Problem(
                description: "\(path): this user may not write to the folder \(folder); "
                    + "choose another file with --state"
            )
        }
    }

    /// Returns the kept state, or `nil` where the file does not exist yet.
    ///
    /// - Throws: `Problem` for a file that is not such a state. It stays as it is.
    public func read<State: Decodable>(_ type: State.Type = State.self) throws(Problem) -> State? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return try JSONDecoder().decode(State.self, from: bytes)
        } catch {
            throw .unreadable(path)
        }
    }

    /// Replaces the file as a whole, so that a crash leaves the former or the new state.
    ///
    /// A failure is told on standard error: what was answered since the last success would be lost with
    /// the process.
    public func write(_ state: () throws -> Data) {
        do {
            try state().write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            let line =
                "sandbox: \(path) cannot be written, so this state is lost when the sandbox ends; "
                + "check the rights and the free space of its disk\n"
            FileHandle.standardError.write(Data(line.utf8))
        }
    }
}
