internal import Logging
internal import NIOCore
internal import Synchronization
internal import TollgateService

/// Counts open connections, from each address and in all.
struct ConnectionCounts {
    /// What a new connection may do.
    enum Admission: Hashable {
        case everything
        /// Bring one message of a store: the rest of the room is kept for these.
        case storeMessage
        /// Be told 503.
        case nothing
    }

    private let limits: ConnectionLimits
    private(set) var all = 0
    private var byAddress: [String: Int] = [:]

    init(_ limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Counts a connection.
    ///
    /// - Parameter address: `nil` for an address behind which many clients may be.
    mutating func open(from address: String?) -> Admission {
        all += 1
        if let address {
            byAddress[address, default: 0] += 1
            if byAddress[address, default: 0] > limits.connectionsPerAddress { return .nothing }
        }
        if all > limits.connections { return .nothing }
        return all > limits.connections - limits.connectionsForStores ? .storeMessage : .everything
    }

    /// Counts a connection no more.
    mutating func close(from address: String?) {
        all -= 1
        guard let address, let count = byAddress[address] else { return }
        byAddress[address] = count > 1 ? count - 1 : nil
    }
}

/// The same for connections that are really open.
final class OpenConnections: Sendable {
    private let counts: Mutex<ConnectionCounts>
    private let countsNeighbours: Bool
    private let tollgate: Tollgate
    private let warning = Once()

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
        let admission = counts.withLock { $0.open(from: address) }
        channel.closeFuture.whenComplete { _ in
            self.counts.withLock { $0.close(from: address) }
        }
        if admission != .everything, warning.claim() {
            tollgate.logger.warning(
                "connections are refused: too many are open, in all or from one address; if that is a proxy's, set TOLLGATE_CLIENT_ADDRESS_HEADER",
                metadata: ["address": "\(address ?? "")"]
            )
        }
        return admission
    }
}
