import Foundation
internal import TollgateAPI

/// Where bytes survive a relaunch.
///
/// An app and its widget may share the files, so nothing is remembered beside them: each is replaced in
/// one step, and whoever reads one to change it does so alone.
///
/// A file that cannot be read yet is not empty: changes of it wait in memory, and are made once it can.
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
        /// The secrets of what was begun signed out, and whose it became.
        case visitorSecrets
        /// Transactions that were bought or restored and that the server does not have yet.
        case claims
    }

    /// What becomes of the kept bytes; nil: there are none.
    typealias Change = @Sendable (Data?) -> Data?

    /// The kept bytes with every change that waits; nil if there are none, or they cannot be read.
    let load: @Sendable (Name) -> Data?
    /// Makes a change, or keeps it in memory until the file can be read and written.
    ///
    /// The flag says that it replaces whatever is there.
    private let update: @Sendable (Name, _ replaces: Bool, @escaping Change) -> Void
    /// Whether it is known what is kept, or that nothing is.
    let isReadable: @Sendable (Name) -> Bool
    /// Keeps everybody else from changing anything until what it returns is called.
    private let lock: @Sendable () -> @Sendable () -> Void

    /// A storage whose bytes can always be read.
    init(
        load: @escaping @Sendable (Name) -> Data?,
        save: @escaping @Sendable (Name, Data?) -> Void,
        lock: @escaping @Sendable () -> @Sendable () -> Void = { {} }
    ) {
        self.init(
            load: load,
            update: { name, _, change in save(name, change(load(name))) },
            isReadable: { _ in true },
            lock: lock
        )
    }

    private init(
        load: @escaping @Sendable (Name) -> Data?,
        update: @escaping @Sendable (Name, Bool, @escaping Change) -> Void,
        isReadable: @escaping @Sendable (Name) -> Bool,
        lock: @escaping @Sendable () -> @Sendable () -> Void
    ) {
        self.load = load
        self.update = update
        self.isReadable = isReadable
        self.lock = lock
    }

    /// Replaces what is kept; nil removes.
    func save(_ name: Name, _ data: Data?) { update(name, true) { _ in data } }

    /// Changes what is kept; `change` is made again where the file can be read only later.
    func change(_ name: Name, _ change: @escaping Change) { update(name, false, change) }

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
    /// What cannot be read or written, before a device was unlocked for the first time or on a full disk,
    /// waits as long as this process.
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
        let files = StoredFiles(place: place, disk: disk)
        let changes = NSLock()
        return Self(
            load: { files.load($0) },
            update: { files.update($0, replaces: $1, $2) },
            isReadable: { files.isReadable($0) },
            lock: {
                changes.lock()
                try? files.makeReady()
                let unlock = disk.lock(place.appendingPathComponent("lock"))
                files.settle()
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

    /// Changes a list; `body` is run again where the file can be read only later, so it takes nothing from
    /// outside that may differ by then.
    func changeList<Element: Codable & Equatable & Sendable, Result>(
        _ name: Name,
        of type: Element.Type,
        _ body: @escaping @Sendable (inout [Element]) -> Result
    ) -> Result {
        alone {
            let before = value([Element].self, of: name) ?? []
            var elements = before
            let result = body(&elements)
            guard elements != before || !isReadable(name) else { return result }
            change(name) { data in
                var elements = data.flatMap { try? APIJSON.decode([Element].self, from: $0) } ?? []
                _ = body(&elements)
                return elements.isEmpty ? nil : try? APIJSON.encode(elements)
            }
            return result
        }
    }
}
