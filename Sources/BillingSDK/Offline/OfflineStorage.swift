import Foundation

/// Where bytes survive a relaunch.
struct OfflineStorage: Sendable {
    enum Name: String, Sendable {
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
    }

    var load: @Sendable (Name) -> Data?
    /// Nil removes.
    var save: @Sendable (Name, Data?) -> Void

    /// Nothing survives.
    static let none = Self(load: { _ in nil }, save: { _, _ in })

    /// Files in `directory`, apart for each publishable key; nothing survives where it is nil.
    ///
    /// A write that fails loses only the comfort of the next offline start, so it is not reported.
    static func files(in directory: URL?, for publishableKey: String) -> Self {
        guard let directory else { return .none }
        let folder = String(
            publishableKey.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        )
        let place = directory.appendingPathComponent(folder, isDirectory: true)
        return Self(
            load: { name in try? Data(contentsOf: place.appendingPathComponent(name.rawValue)) },
            save: { name, data in
                let file = place.appendingPathComponent(name.rawValue)
                guard let data else {
                    try? FileManager.default.removeItem(at: file)
                    return
                }
                try? FileManager.default.createDirectory(
                    at: place,
                    withIntermediateDirectories: true
                )
                try? data.write(to: file, options: .atomic)
            }
        )
    }
}
