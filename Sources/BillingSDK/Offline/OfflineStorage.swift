import Foundation
internal import TollgateAPI

/// Where bytes survive a relaunch.
///
/// An app and its widget may share the files, so nothing is remembered beside them: each is replaced in
/// one step, and whoever reads one to change it does so alone.
struct OfflineStorage: Sendable {
    enum Name: String, Sendable, CaseIterable {
        case answer
        case keys
        case inbox
        /// The signed slice of the catalog.
        case catalog
        /// Why StoreKit's word must not stand in for the server's.
        case mark
        /// Checkouts that were begun and not yet come back from.
        case checkouts
        /// For whom, and when, the server was last told what StoreKit holds.
        case observation
        /// The token under which the App Store knows the customer.
        case accountToken
        /// The secrets of checkouts that were begun signed out.
        case visitorSecrets
        /// Transactions that were bought or restored and that the server does not have yet.
        case claims
    }

    var load: @Sendable (Name) -> Data?
    /// Nil removes.
    var save: @Sendable (Name, Data?) -> Void
    /// Keeps everybody else from changing anything until what it returns is called.
    var lock: @Sendable () -> @Sendable () -> Void = { {} }

    /// Bytes of this process, which do not survive it.
    static var inMemory: Self {
        let kept = Locked<[Name: Data]>([:])
        let changes = NSLock()
        return Self(
            load: { name in kept.withLock { $0[name] } },
            save: { name, data in kept.withLock { $0[name] = data } },
            lock: {
                changes.lock()
                return { changes.unlock() }
            }
        )
    }

    /// Files in `directory`, apart for each publishable key; in memory where it is nil.
    ///
    /// - Parameter former: where an earlier version had its folders; the one of this key moves.
    ///
    /// What cannot be written, on a full disk or before a device was unlocked for the first time, holds
    /// as long as this process.
    static func files(
        in directory: URL?,
        for publishableKey: String,
        movedFrom former: URL? = nil,
        on disk: Disk = .ofThisDevice
    ) -> Self {
        guard let directory else { return .inMemory }
        let folder = String(
            publishableKey.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        )
        let place = directory.appendingPathComponent(folder, isDirectory: true)
        if let former { move(former.appendingPathComponent(folder, isDirectory: true), to: place) }
        let unwritten = Locked<[Name: Data?]>([:])
        let (isReady, changes) = (Locked(false), NSLock())
        @Sendable func makeReady() throws {
            try isReady.withLock { isReady in
                if !isReady { try prepare(place, on: disk) }
                isReady = true
            }
        }
        return Self(
            load: { name in
                if let data = unwritten.withLock({ $0[name] }) { return data }
                return try? Data(contentsOf: place.appendingPathComponent(name.rawValue))
            },
            save: { name, data in
                let file = place.appendingPathComponent(name.rawValue)
                do {
                    if let data {
                        try makeReady()
                        try disk.write(data, file, writing)
                    } else if FileManager.default.fileExists(atPath: file.path) {
                        try FileManager.default.removeItem(at: file)
                    }
                    unwritten.withLock { _ = $0.removeValue(forKey: name) }
                } catch {
                    unwritten.withLock { $0[name] = .some(data) }
                }
            },
            lock: {
                changes.lock()
                try? makeReady()
                let unlock = disk.lock(place.appendingPathComponent("lock"))
                return {
                    unlock()
                    changes.unlock()
                }
            }
        )
    }

    private static func move(_ old: URL, to place: URL) {
        let files = FileManager.default
        guard !files.fileExists(atPath: place.path), files.fileExists(atPath: old.path) else {
            return
        }
        // What cannot be moved is asked for anew.
        try? files.createDirectory(
            at: place.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try? files.moveItem(at: old, to: place)
    }

    // MARK: - Protection

    /// Makes the folder; one of an older version is protected from now on.
    private static func prepare(_ place: URL, on disk: Disk) throws {
        try disk.makeFolder(place)
        // Of the folder, since each write makes a new file: what is kept is of this device and this
        // day, and the server says it anew to another one.
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? disk.setValues(values, place)
        #if !os(macOS)
            try? disk.setProtection(.completeUntilFirstUserAuthentication, place)
        #endif
    }

    /// The way in which each file is written.
    ///
    /// Extensions and background launches read while the device is locked, so Apple's classes that
    /// lock with it will not do (developer.apple.com/documentation/uikit/encrypting-your-app-s-files).
    /// A Mac has FileVault instead.
    private static var writing: Data.WritingOptions {
        #if os(macOS)
            .atomic
        #else
            [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
        #endif
    }

    // MARK: - Values

    /// Runs `body` while nobody else changes anything; `body` must not call this again.
    func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
        let unlock = lock()
        defer { unlock() }
        return try body()
    }

    /// The kept bytes; nil if there are none, or they cannot be read.
    func value<Value: Decodable>(_ type: Value.Type, of name: Name) -> Value? {
        load(name).flatMap { try? APIJSON.decode(type, from: $0) }
    }

    /// Nil removes.
    func keep(_ value: (some Encodable)?, as name: Name) {
        save(name, value.flatMap { try? APIJSON.encode($0) })
    }
}
