internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import TollgateService

/// From where a request comes, as far as limits are concerned.
struct ClientAddress {
    /// What one caller has in common: an IPv4 address, or the network of an IPv6 one, since
    /// everybody who has one of these has 2^64.
    let text: String
    /// Whether everybody may have this address: the other end is this machine, or a neighbour that
    /// seems to be a proxy and is not believed.
    let isOfMany: Bool

    init(_ request: Request, _ context: ServerRequestContext, _ tollgate: Tollgate) {
        self.init(peer: context.remoteAddress, request.headers, tollgate)
    }

    /// Reads it from the header that was configured.
    ///
    /// Where there is none, only a proxy on this machine is believed, and else nothing that a
    /// request says of itself.
    ///
    /// - Parameter peer: the other end of the connection; `nil` where it has no address, as in a test.
    init(peer: SocketAddress?, _ headers: HTTPFields, _ tollgate: Tollgate) {
        let peer = peer?.ipAddress ?? ""
        let address: String
        if let header = tollgate.configuration.clientAddressHeader {
            address = Self.told(in: header, headers) ?? peer
            isOfMany = Self.isThisMachine(address)
        } else if Self.isThisMachine(peer) {
            address = Self.told(in: Self.usualHeader, headers) ?? peer
            isOfMany = Self.isThisMachine(address)
        } else {
            address = peer
            isOfMany = Self.isPerhapsProxy(peer, headers)
            if isOfMany { Self.warnOfProxy(peer, tollgate) }
        }
        text = Self.network(of: address)
    }

    /// The address by which a connection is counted; `nil` where it is or may be a proxy's, behind
    /// which many clients are.
    ///
    /// - Parameter countsNeighbours: whether proxies of this machine and of private networks count too.
    static func ofConnection(
        _ peer: SocketAddress?,
        countsNeighbours: Bool,
        _ tollgate: Tollgate
    ) -> String? {
        guard let peer = peer?.ipAddress else { return nil }
        let address = network(of: peer)
        if countsNeighbours { return address }
        guard tollgate.configuration.clientAddressHeader == nil,
            (IPAddress(address) ?? IPAddress(peer))?.isPublic == true
        else { return nil }
        return address
    }

    /// What proxies write unless they are told otherwise.
    private static let usualHeader = "X-Forwarded-For"

    /// The proxy appends: what stands before the last address was said by the client.
    private static func told(in header: String, _ headers: HTTPFields) -> String? {
        guard let name = HTTPField.Name(header),
            let last = headers[name]?.split(separator: ",").last
        else { return nil }
        let told = String(last.drop { $0 == " " }.prefix { $0 != " " })
        return (try? SocketAddress(ipAddress: told, port: 0))?.ipAddress
    }

    private static func isThisMachine(_ address: String) -> Bool {
        address.isEmpty || address == "::1" || network(of: address).hasPrefix("127.")
    }

    /// Whether a neighbour says for whom it asks.
    private static func isPerhapsProxy(_ peer: String, _ headers: HTTPFields) -> Bool {
        guard told(in: usualHeader, headers) != nil,
            let address = IPAddress(network(of: peer)) ?? IPAddress(peer)
        else { return false }
        return !address.isPublic
    }

    /// Says once what to set where a neighbour seems to be a proxy: all its clients are limited as
    /// one, so that one of them may use up what all have.
    private static func warnOfProxy(_ peer: String, _ tollgate: Tollgate) {
        guard tollgate.proxyWarning.claim() else { return }
        tollgate.logger.warning(
            "a proxy says in X-Forwarded-For for whom it asks and is not believed, so that all its clients are limited as one: set TOLLGATE_CLIENT_ADDRESS_HEADER=X-Forwarded-For if nobody reaches this server but through it",
            metadata: ["peer": "\(peer)"]
        )
    }

    /// What counts as one caller of an address.
    private static func network(of address: String) -> String {
        guard let bytes = IPAddress(address)?.bytes, bytes.count == 16 else { return address }
        // An IPv4 address in the clothes of the newer kind is one address.
        let isMapped =
            bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11].allSatisfy { $0 == 255 }
        return (isMapped ? bytes[12...] : bytes[..<8]).map(String.init).joined(separator: ".")
    }
}
