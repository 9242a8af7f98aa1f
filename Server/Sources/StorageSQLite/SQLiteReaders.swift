internal import Foundation
internal import Storage

/// Connections for reads that are answered on the calling thread: in effect one for each thread, so
/// that readers never wait for each other.
///
/// A thread starts looking at a place of its own, so it meets the same connection, with its pages in
/// cache, each time. There are more places than threads that run at once.
final class SQLiteReaders: Sendable {
    private let places: [Place]

    /// `count` places for connections to the file at `path`, opened when first needed.
    init(path: String, count: Int, cacheKiB: Int) {
        places = (0..<count).map { _ in Place(path: path, cacheKiB: cacheKiB) }
    }

    /// Runs `body` on a connection that no other thread uses meanwhile.
    func read<R>(_ body: (SQLiteConnection) throws(StorageError) -> R) throws(StorageError) -> R {
        let first = Int(Self.thread % UInt(places.count))
        for offset in places.indices {
            let place = places[(first + offset) % places.count]
            guard place.lock.try() else { continue }
            defer { place.lock.unlock() }
            return try body(try place.connection())
        }
        let place = places[first]
        place.lock.lock()
        defer { place.lock.unlock() }
        return try body(try place.connection())
    }

    /// A number for the calling thread.
    ///
    /// Handles are addresses of aligned memory, so their low bits are all the same.
    private static var thread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self()) >> 12
        #else
            pthread_self() >> 12
        #endif
    }

    /// Closes all connections once they are free.
    func close() {
        for place in places {
            place.lock.lock()
            place.close()
            place.lock.unlock()
        }
    }

    /// Unchecked because `open` and `isClosed` are used only by whoever holds `lock`.
    private final class Place: @unchecked Sendable {
        let lock = NSLock()
        private let path: String
        private let cacheKiB: Int
        private var open: SQLiteConnection?
        private var isClosed = false

        init(path: String, cacheKiB: Int) {
            self.path = path
            self.cacheKiB = cacheKiB
        }

        func connection() throws(StorageError) -> SQLiteConnection {
            if let open { return open }
            guard !isClosed else { throw StorageError(.closed, "the database was closed") }
            let connection = try SQLiteConnection(readingFrom: path, cacheKiB: cacheKiB)
            open = connection
            return connection
        }

        func close() {
            open = nil
            isClosed = true
        }
    }
}
