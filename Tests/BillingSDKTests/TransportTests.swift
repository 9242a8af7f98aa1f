import Foundation
import Testing

@testable import BillingSDK

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The transport of an app, against bytes on a real socket.
@Suite struct TransportTests {
    /// Answers one connection after the other on a port of 127.0.0.1.
    final class Listener: Sendable {
        let port: UInt16
        private let socketNumber: Int32
        private let seen = Locked<[String]>([])
        var requests: [String] { seen.withLock { $0 } }

        /// Answers each request with the same bytes.
        convenience init(answer: String) throws { try self.init { _ in answer } }

        /// - Parameter answer: what is sent for the text of a request.
        init(answer: @escaping @Sendable (String) -> String) throws {
            #if canImport(Glibc)
                let kind = Int32(SOCK_STREAM.rawValue)
            #else
                let kind = SOCK_STREAM
            #endif
            socketNumber = socket(AF_INET, kind, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let number = socketNumber
            let isUp = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(number, address, size) == 0 && listen(number, 64) == 0
                        && getsockname(number, address, &size) == 0
                }
            }
            guard isUp else { throw URLError(.cannotConnectToHost) }
            port = UInt16(bigEndian: address.sin_port)
            let seen = seen
            Thread.detachNewThread {
                while true {
                    let connection = accept(number, nil, nil)
                    guard connection >= 0 else { return }
                    var bytes = [UInt8](repeating: 0, count: 65536)
                    let count = recv(connection, &bytes, bytes.count, 0)
                    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                    seen.withLock { $0.append(text) }
                    _ = Array(answer(text).utf8).withUnsafeBytes {
                        send(connection, $0.baseAddress, $0.count, 0)
                    }
                    close(connection)
                }
            }
        }

        deinit { shutdown(socketNumber, Int32(SHUT_RDWR)) }

        func url(_ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        }
    }

    @Test func theAppsTransportSpeaksHTTP() async throws {
        let listener = try Listener(
            answer: "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        )
        let response = try await URLSessionTransport.make()(
            HTTPRequest(
                method: "POST",
                url: listener.url("/v1/x"),
                headers: ["Authorization": "Bearer k"],
                body: Data("hello".utf8)
            )
        )
        #expect(response == HTTPResponse(status: 201, body: Data("{}".utf8)))
        let request = try #require(listener.requests.first)
        #expect(request.hasPrefix("POST /v1/x HTTP/1.1\r\n"))
        #expect(request.contains("Authorization: Bearer k\r\n"))
    }

    @Test func aRedirectIsNotFollowedSoNoSecretLeavesTheServer() async throws {
        let elsewhere = try Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let listener = try Listener(
            answer: "HTTP/1.1 302 Found\r\nLocation: \(try elsewhere.url("/"))\r\n"
                + "Content-Length: 0\r\nConnection: close\r\n\r\n"
        )
        let response = try await URLSessionTransport.make()(
            HTTPRequest(
                method: "GET",
                url: listener.url("/"),
                headers: ["Authorization": "Bearer k"]
            )
        )
        #expect(response.status == 302)
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func noServerIsCannotBeReached() async throws {
        let billing = BillingSDK(
            configuration: .init(
                publishableKey: "pk_test_1",
                maximumStaleEntitlementsDuration: 0,
                serverURL: URL(string: "http://127.0.0.1:1")
            )
        )
        let error = await billingError { try await billing.getBuyButton(id: "b") }
        #expect(error?.name == "networkUnavailable")
    }
}
