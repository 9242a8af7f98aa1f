public import Foundation

/// Folders for one run of the tests, removed when the process ends.
public enum TestFolder {
    private static let root: URL = {
        let name = "tollgate-tests-\(ProcessInfo.processInfo.processIdentifier)"
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        atexit { try? FileManager.default.removeItem(at: TestFolder.root) }
        return root
    }()

    /// A new, empty folder of its own.
    public static func make() throws -> URL {
        let folder = root.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
