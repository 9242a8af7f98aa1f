import Foundation

/// The files of one folder, and the changes that wait because a file could not be read or written.
struct StoredFiles: Sendable {
    typealias Name = OfflineStorage.Name
    typealias Change = OfflineStorage.Change

    let place: URL
    let disk: Disk
    private let waiting = Locked<[Name: [Change]]>([:])
    private let isReady = Locked(false)
    /// One change of the files at a time; reading needs it not.
    private let changing = Locked(())

    init(place: URL, disk: Disk) {
        self.place = place
        self.disk = disk
    }

    private func file(_ name: Name) -> URL { place.appendingPathComponent(name.rawValue) }

    private func changes(_ name: Name) -> [Change] { waiting.withLock { $0[name] ?? [] } }

    func load(_ name: Name) -> Data? {
        let kept = try? disk.read(file(name))
        return changes(name).reduce(kept) { $1($0) }
    }

    func isReadable(_ name: Name) -> Bool {
        do {
            _ = try disk.read(file(name))
            return true
        } catch {
            return false
        }
    }

    func update(_ name: Name, replaces: Bool, _ change: @escaping Change) {
        changing.withLock { _ in
            let changes = (replaces ? [] : changes(name)) + [change]
            do {
                try apply(changes, to: name, replaces: replaces)
                waiting.withLock { $0[name] = nil }
            } catch {
                let waits = shortened(changes, of: name)
                waiting.withLock { $0[name] = waits }
            }
        }
    }

    /// Makes the changes that wait, as far as files can be read and written by now.
    func settle() {
        for name in waiting.withLock({ Array($0.keys) }) {
            changing.withLock { _ in
                guard (try? apply(changes(name), to: name, replaces: false)) != nil else { return }
                waiting.withLock { $0[name] = nil }
            }
        }
    }

    /// Changes of a file that can be read, and not written, as one: a full disk may last.
    private func shortened(_ changes: [Change], of name: Name) -> [Change] {
        do {
            let data = try changes.reduce(disk.read(file(name))) { $1($0) }
            return [{ _ in data }]
        } catch {
            return changes
        }
    }

    private func apply(_ changes: [Change], to name: Name, replaces: Bool) throws {
        let file = file(name)
        let kept = replaces ? nil : try disk.read(file)
        if let data = changes.reduce(kept, { $1($0) }) {
            guard data != kept else { return }
            try makeReady()
            try disk.write(data, file, Self.writing)
        } else if FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }

    // MARK: - Protection

    /// Makes the folder; one of an older version is protected from now on.
    func makeReady() throws {
        try isReady.withLock { isReady in
            if !isReady { try prepare() }
            isReady = true
        }
    }

    private func prepare() throws {
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
}
