import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The calls to the file system, replaced in tests: only Apple's has protection and backups.
struct Disk: Sendable {
    var makeFolder: @Sendable (URL) throws -> Void
    var setProtection: @Sendable (FileProtectionType, URL) throws -> Void
    var setValues: @Sendable (URLResourceValues, URL) throws -> Void
    /// The bytes of a file; `nil` where there is none.
    ///
    /// Throws where it cannot be read, as before the device was unlocked for the first time.
    var read: @Sendable (URL) throws -> Data?
    /// Replaces a file in one step.
    var write: @Sendable (Data, URL, Data.WritingOptions) throws -> Void
    /// Waits until no other process has locked the file; what it returns unlocks it.
    var lock: @Sendable (URL) -> @Sendable () -> Void
    /// Whether this process is an app's extension, such as a widget, which may know less than the app.
    var isOfExtension = false

    static let ofThisDevice = Disk(
        makeFolder: {
            try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: true)
        },
        setProtection: {
            try FileManager.default.setAttributes([.protectionKey: $0], ofItemAtPath: $1.path)
        },
        setValues: { values, url in
            var url = url
            try url.setResourceValues(values)
        },
        read: { file in
            do {
                return try Data(contentsOf: file)
            } catch {
                if !FileManager.default.fileExists(atPath: file.path) { return nil }
                throw error
            }
        },
        write: { try $0.write(to: $1, options: $2) },
        lock: lockFile,
        isOfExtension: Bundle.main.bundleURL.pathExtension == "appex"
    )

    /// Locks by `flock`, of which the system lets go when a process ends, however it does.
    ///
    /// After a second it continues without the lock: a lost write is better than an app that hangs. It polls
    /// every 0.1 ms, because a process that writes repeatedly releases the lock only briefly.
    private static func lockFile(_ file: URL) -> @Sendable () -> Void {
        let resume = keepAwake()
        let descriptor = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return resume }
        let deadline = DispatchTime.now() + 1
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, DispatchTime.now() < deadline {
            usleep(100)
        }
        return {
            close(descriptor)
            resume()
        }
    }

    /// Keeps iOS from suspending the app until what it returns is called: one that is suspended while
    /// it holds a lock in an app group's folder is ended (0xdead10cc).
    private static func keepAwake() -> @Sendable () -> Void {
        #if os(iOS)
            let done = DispatchSemaphore(value: 0)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "BillingSDK") { isOver in
                if !isOver { _ = done.wait(timeout: .now() + 2) }
            }
            return { done.signal() }
        #else
            return {}
        #endif
    }
}
