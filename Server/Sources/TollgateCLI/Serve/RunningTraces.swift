// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TollgateServer
import TollgateService
import Traces

/// Spans of this process, and how they reach the collector.
struct RunningTraces: Sendable {
    private let export: TraceExport
    private let client: HTTPClient

    /// Begins to record: HTTP clients that are made later are measured too.
    init(_ settings: TraceSettings) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(10))
        )
        // The exporter's own requests are not traced.
        configuration.tracing.tracer = nil
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let recorder = TraceRecorder(share: settings.share) {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }
        export = TraceExport(of: recorder, version: Version.number) { body in
            var request = HTTPClientRequest(url: settings.url)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            for header in settings.headers {
                request.headers.replaceOrAdd(name: header.name, value: header.value)
            }
            request.body = .bytes(body)
            let response = try await client.execute(request, timeout: .seconds(5))
            for try await _ in response.body {}
            return Int(response.status.code)
        }
        self.client = client
        Traces.begin(recorder)
    }

    /// Sends what has ended, every two seconds; after a failure, every half minute.
    ///
    /// A failure is logged when it begins and when it is over.
    func service(of tollgate: Tollgate) -> some Service {
        Recurring(
            "traces",
            of: tollgate,
            every: .seconds(2),
            afterFailure: .seconds(30),
            keeping: String?.none
        ) { [export] failure in
            do {
                // What is on its way at the server's end would be sent twice if it were broken off.
                let dropped = try await Task { try await export.send() }.value
                if dropped > 0 {
                    tollgate.logger.warning(
                        "spans were dropped: they end faster than they are sent",
                        metadata: ["count": "\(dropped)"]
                    )
                }
                if failure != nil { tollgate.logger.notice("traces are sent again") }
                failure = nil
                return .done
            } catch {
                let text = "\(error)"
                if failure != text, !Task.isCancelled {
                    tollgate.logger.warning(
                        "traces could not be sent and wait",
                        metadata: ["error": "\(text)"]
                    )
                }
                failure = text
                return .failed
            }
        }
    }

    /// Sends what the server's end has left, if a collector takes it within three seconds.
    func shutdown() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await export.send() }
            group.addTask { try? await Task.sleep(for: .seconds(3)) }
            await group.next()
            group.cancelAll()
        }
        try? await client.shutdown()
    }
}
