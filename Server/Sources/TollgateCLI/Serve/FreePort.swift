import CommandOutput
import Foundation

extension ListenAddress {
    /// Checks that every one of `addresses` can be listened on now, before anything is begun.
    ///
    /// - Throws: `CheckFailed` that names the port and the option to change.
    static func requireFree(_ addresses: [(address: ListenAddress, option: String)]) throws {
        var held: [Int32] = []
        defer { for handle in held { close(handle) } }
        for (address, option) in addresses where address.port != 0 {
            do {
                // Held until all are tried, so that one port given twice is found too.
                held.append(try listeningSocket(host: address.host, port: address.port))
            } catch .inUse {
                throw CheckFailed(
                    message: "\(option): port \(address.port) on \(address.host) is already in use."
                        + " Stop what listens there, or choose another port:"
                        + " \(option) \(address.host):\(address.port % 60_000 + 1000)"
                )
            } catch .other {
                // What else is wrong, the server itself says better.
            }
        }
    }
}

/// Returns `count` different free ports on 127.0.0.1.
///
/// On Linux they stay reserved until this process ends: a socket that is bound and does not listen
/// keeps the system from giving its port to another program, and lets a server here listen at it.
/// Elsewhere another program may take one before it is opened.
func freePorts(_ count: Int) throws -> [Int] {
    // Held until all are drawn, since the system may name one that was given back a second time.
    var held: [Int32] = []
    #if !os(Linux)
        defer { for handle in held { close(handle) } }
    #endif
    return try (0..<count).map { _ in
        guard let handle = try? boundSocket(host: "127.0.0.1", port: 0) else {
            throw CheckFailed(message: "There is no free port on 127.0.0.1.")
        }
        held.append(handle)
        return try port(of: handle)
    }
}

private func port(of handle: Int32) throws -> Int {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            getsockname(handle, $0, &length) == 0
        }
    }
    guard isKnown else { throw CheckFailed(message: "There is no free port on 127.0.0.1.") }
    return Int(UInt16(bigEndian: address.sin_port))
}

private enum PortError: Error {
    case inUse, other
}

/// A socket as the server would open it; the caller closes it.
private func listeningSocket(host: String, port: Int) throws(PortError) -> Int32 {
    let handle = try boundSocket(host: host, port: port)
    guard listen(handle, 1) == 0 else { throw refused(handle) }
    return handle
}

private func boundSocket(host: String, port: Int) throws(PortError) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(clamping: port).bigEndian
    guard inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &address.sin_addr) == 1
    else {
        throw .other
    }
    let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard handle >= 0 else { throw .other }
    // As servers do, or a port whose last connections are still winding down would count as taken.
    var yes: Int32 = 1
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isBound else { throw refused(handle) }
    return handle
}

/// The reason of the call that has just failed; closes the socket.
private func refused(_ handle: Int32) -> PortError {
    let reason = errno
    close(handle)
    return reason == EADDRINUSE ? .inUse : .other
}
