public import Storage

/// The database of a world, of which copies can be made while nobody has it open.
public struct SimulatedDatabase: Sendable {
    /// Opens it, empty at first, once at a time.
    public var open: @Sendable () throws -> any StorageDriver
    /// Makes a database that holds the same.
    public var copy: @Sendable () throws -> SimulatedDatabase

    public init(
        open: @escaping @Sendable () throws -> any StorageDriver,
        copy: @escaping @Sendable () throws -> SimulatedDatabase
    ) {
        (self.open, self.copy) = (open, copy)
    }
}
