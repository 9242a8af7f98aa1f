// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
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
        // What sends traces is in none.
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
            let response = try await client.execute(request, timeout: .seconds(15))
            for try await _ in response.body {}
            return Int(response.status.code)
        }
        self.client = client
        Traces.begin(recorder)
    }

    /// Sends what has ended, every two seconds and at the end of the server.
    func service(of tollgate: Tollgate) -> some Service {
        Recurring(
            "traces",
            of: tollgate,
            every: .seconds(2),
            afterFailure: .seconds(30),
            atEnd: { [export] in try? await export.send() }
        ) { [export] in
            try await export.send()
            return .done
        }
    }

    func shutdown() async { try? await client.shutdown() }
}
