internal import Logging
internal import NIOCore
internal import Synchronization
internal import TollgateService

/// Counts open connections, from each address and in all.
///
/// Those beyond a limit are counted apart: however many come, they take no room from others.
struct ConnectionCounts {
    /// What a new connection may do.
    enum Admission: Hashable {
        case everything
        /// Bring one message of a store: the rest of the room is kept for these.
        ///
        /// Not served are those whose address has as many as it may: one of them may be a store's.
        case storeMessage(isServed: Bool)
        /// Be told 503.
        case refusal
        /// Be told 503 without being read, and be closed.
        case refusalUnread

        /// True if it is counted among those that are served.
        fileprivate var isServed: Bool {
            self == .everything || self == .storeMessage(isServed: true)
        }
    }

    private let limits: ConnectionLimits
    private(set) var served = 0
    private(set) var refused = 0
    /// How many are served from each address.
    private var byAddress: [String: Int] = [:]

    init(_ limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Tells if as many connections are served from an address as may be.
    func isFull(_ address: String?) -> Bool {
        address.map { byAddress[$0, default: 0] >= limits.connectionsPerAddress } ?? false
    }

    /// Counts a connection.
    ///
    /// - Parameter address: `nil` for an address behind which many clients may be.
    mutating func open(from address: String?) -> Admission {
        let isRoom = served < limits.connections
        guard isRoom, !isFull(address) else {
            refused += 1
            guard refused <= limits.connectionsRefused else { return .refusalUnread }
            return isRoom ? .storeMessage(isServed: false) : .refusal
        }
        served += 1
        if let address { byAddress[address, default: 0] += 1 }
        return served > limits.connections - limits.connectionsForStores
            ? .storeMessage(isServed: true) : .everything
    }

    /// Counts a connection no more.
    ///
    /// - Parameter admission: what `open(from:)` said of it.
    mutating func close(from address: String?, _ admission: Admission) {
        guard admission.isServed else {
            refused -= 1
            return
        }
        served -= 1
        guard let address, let count = byAddress[address] else { return }
        byAddress[address] = count > 1 ? count - 1 : nil
    }
}

/// The same for connections that are really open.
final class OpenConnections: Sendable {
    private let counts: Mutex<ConnectionCounts>
    private let countsNeighbours: Bool
    private let tollgate: Tollgate
    private let warningOfAddress = Once()
    private let warningOfAll = Once()

    init(_ limits: ConnectionLimits, _ tollgate: Tollgate) {
        counts = Mutex(ConnectionCounts(limits))
        countsNeighbours = limits.countsNeighbours
        self.tollgate = tollgate
    }

    /// Counts `channel` for as long as it is open.
    func open(_ channel: any Channel) -> ConnectionCounts.Admission {
        let address = ClientAddress.ofConnection(
            channel.remoteAddress,
            countsNeighbours: countsNeighbours,
            tollgate
        )
        let (admission, isOfAddress) = counts.withLock { counts in
            let isFull = counts.isFull(address)
            return (counts.open(from: address), isFull)
        }
        channel.closeFuture.whenComplete { _ in
            self.counts.withLock { $0.close(from: address, admission) }
        }
        if admission != .everything { warn(isOfAddress: isOfAddress) }
        return admission
    }

    /// Says once for each limit that it was reached, and not by whom.
    private func warn(isOfAddress: Bool) {
        if isOfAddress {
            guard warningOfAddress.claim() else { return }
            tollgate.logger.warning(
                "Connection limit reached for one address. If a proxy has that address, set TOLLGATE_CLIENT_ADDRESS_HEADER.",
                metadata: ["limit": "address"]
            )
        } else if warningOfAll.claim() {
            tollgate.logger.warning(
                "Connection limit reached for all addresses, and only stores are still served. Let the process open more files (ulimit -n), or have a proxy hold fewer idle connections.",
                metadata: ["limit": "all"]
            )
        }
    }
}
