public import Foundation

/// Folders for one run of the tests, removed when the process ends.
public enum TestFolder {
    private static let root: URL = {
        let name = "tollgate-tests-\(ProcessInfo.processInfo.processIdentifier)"
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        atexit { try? FileManager.default.removeItem(at: TestFolder.root) }
        return root
    }()

    /// Where files are kept in memory, if this machine has such a place with 8 GB of room; else where
    /// temporary files are.
    static let inMemory: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
        let room = attributes?[.systemFreeSize] as? Int64 ?? 0
        return room > 8 << 30 && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()

    /// A new, empty folder of its own.
    public static func make() throws -> URL {
        let folder = root.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
