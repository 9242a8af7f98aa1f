internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// From where a request comes, as far as limits are concerned.
struct ClientAddress {
    /// What one caller has in common: an IPv4 address, or the network of an IPv6 one, since
    /// everybody who has one of these has 2^64.
    let text: String

    /// - Parameter header: the field in which a proxy in front of the server tells it; `nil`: there is
    ///   none, and what the request says of itself is not believed.
    init(_ request: Request, _ context: ServerRequestContext, header: String?) {
        var address = context.remoteAddress
        if let header, let name = HTTPField.Name(header), let value = request.headers[name],
            // The proxy appends: what stands before the last one was said by the client.
            let last = value.split(separator: ",").last
        {
            let told = String(last.drop { $0 == " " }.prefix { $0 != " " })
            address = (try? SocketAddress(ipAddress: told, port: 0)) ?? address
        }
        text = Self.network(of: address?.ipAddress ?? "")
    }

    /// The same of an address that was found out otherwise.
    static func network(of address: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, address, &bytes) == 1 else { return address }
        // An IPv4 address in the clothes of the newer kind is one address.
        let isMapped =
            bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11].allSatisfy { $0 == 255 }
        return (isMapped ? bytes[12...] : bytes[..<8]).map(String.init).joined(separator: ".")
    }
}
