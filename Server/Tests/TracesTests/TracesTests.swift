import Foundation
import Synchronization
import Testing
import Tracing

@testable import Traces

@Suite("Traces")
struct TracesTests {
    /// Ids that count up, so that a test knows them.
    private static func counting(from first: UInt64 = 1) -> @Sendable () -> UInt64 {
        let next = Mutex(first)
        return {
            next.withLock { number in
                defer { number += 1 }
                return number
            }
        }
    }

    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
            carrier[key] = value
        }
    }

    private struct Broken: Error { var person = "ada@example.com" }

    /// The cases of <https://www.w3.org/TR/trace-context/#versioning-of-traceparent>.
    @Test(
        "A place in a trace is read as the W3C says",
        arguments: [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", false),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", false),
            ("00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false), ("", false),
        ]
    )
    func traceParent(_ header: String, _ isValid: Bool) {
        let place = TraceParent(header: header)
        #expect((place != nil) == isValid)
        guard let place else { return }
        #expect(place.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(place.spanID == "00f067aa0ba902b7")
    }

    @Test("A step within another has its trace, and the other as parent")
    func nested() async throws {
        let recorder = TraceRecorder(share: 1, random: Self.counting())
        try await recorder.withSpan("outer", ofKind: .server) { _ in
            try await recorder.withSpan("inner") { _ in try await Task.sleep(for: .zero) }
        }
        let spans = recorder.take(10).spans
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans[0].place.traceID == spans[1].place.traceID)
        #expect(spans[0].parent == spans[1].place.span && spans[1].parent == nil)
        #expect(spans.allSatisfy { $0.ended >= $0.begun })
    }

    @Test("A caller's trace goes on here, and what we ask goes on in ours")
    func acrossProcesses() {
        let recorder = TraceRecorder(share: 1, random: Self.counting())
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        var context = ServiceContext.topLevel
        recorder.extract(["traceparent": header], into: &context, using: Headers())
        recorder.withSpan("request", context: context) { span in
            var headers: [String: String] = [:]
            recorder.inject(span.context, into: &headers, using: Headers())
            #expect(
                headers["traceparent"]
                    == "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-01"
            )
        }
        #expect(recorder.take(10).spans.first?.parent == 0x00f0_67aa_0ba9_02b7)
        var without = ServiceContext.topLevel
        recorder.extract(["traceparent": "nonsense"], into: &without, using: Headers())
        #expect(without.traceParent == nil)
    }

    @Test("The share of traces that is recorded is what was asked for, whole traces at a time")
    func share() {
        for share in [0, 0.1, 1] {
            let recorder = TraceRecorder(share: share, capacity: 100_000) {
                UInt64.random(in: .min ... .max)
            }
            for _ in 0..<10_000 {
                recorder.withSpan("outer") { _ in recorder.withSpan("inner") { _ in } }
            }
            let spans = recorder.take(100_000).spans
            let traces = Set(spans.map(\.place.traceID)).count
            #expect(spans.count == 2 * traces)
            // Ten standard deviations at 0.1.
            #expect(abs(Double(traces) - share * 10_000) <= (share == 0.1 ? 300 : 0))
        }
    }

    @Test("Neither paths nor queries nor what an error says are kept")
    func nothingPersonal() throws {
        let recorder = TraceRecorder(share: 1, random: Self.counting())
        try? recorder.withSpan("GET") { span in
            span.updateAttributes { attributes in
                attributes["url.path"] = "/v1/customers/ada@example.com"
                attributes["url.full"] = "https://example.com/v1/customers/ada@example.com"
                attributes["url.query"] = "email=ada@example.com"
                attributes["user_agent.original"] = "Ada's phone"
                attributes["http.status_code"] = 503
                attributes["server.address"] = "api.example.com"
            }
            throw Broken()
        }
        let span = try #require(recorder.take(10).spans.first)
        #expect(
            span.attributes == [
                "http.response.status_code": .number(503),
                "server.address": .text("api.example.com"),
            ]
        )
        let text = String(decoding: try OTLPTraces([span], version: "1").json(), as: UTF8.self)
        #expect(!text.lowercased().contains("ada") && text.contains("Broken"))
    }

    // MARK: - Sending

    private static func recorder(with count: Int, capacity: Int = 8192) -> TraceRecorder {
        let recorder = TraceRecorder(share: 1, capacity: capacity, random: counting())
        for number in 0..<count { recorder.withSpan("\(number)") { _ in } }
        return recorder
    }

    @Test("All that ended is sent, in order, in requests of at most 512 spans")
    func sent() async throws {
        let bodies = Mutex<[Int]>([])
        let export = TraceExport(of: Self.recorder(with: 1200), version: "1") { body in
            let json = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            let resource = (json?["resourceSpans"] as? [[String: Any]])?.first
            let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
            let spans = scope?["spans"] as? [[String: Any]] ?? []
            let sum = bodies.withLock { $0.reduce(0, +) }
            #expect(spans.first?["name"] as? String == "\(sum)")
            bodies.withLock { $0.append(spans.count) }
            return 200
        }
        #expect(try await export.send() == 0)
        #expect(bodies.withLock { $0 } == [512, 512, 176])
        #expect(try await export.send() == 0)
        #expect(bodies.withLock { $0.count } == 3)
    }

    @Test(
        "What a collector cannot take now is sent again; what it refuses is not",
        arguments: [(503, 1), (429, 1), (0, 1), (400, 0), (413, 0)]
    )
    func notTaken(_ status: Int, _ again: Int) async throws {
        let answers = Mutex([status, 200, 200])
        let requests = Mutex(0)
        let export = TraceExport(of: Self.recorder(with: 3), version: "1") { _ in
            requests.withLock { $0 += 1 }
            let answer = answers.withLock { $0.removeFirst() }
            if answer == 0 { throw Broken() }
            return answer
        }
        await #expect(throws: (any Error).self) { try await export.send() }
        #expect(try await export.send() == 0)
        #expect(requests.withLock { $0 } == 1 + again)
    }

    @Test("What ends faster than it is sent is dropped, and its number told once all is sent")
    func dropped() async throws {
        let recorder = Self.recorder(with: 1500, capacity: 1000)
        let answers = Mutex([200, 503, 200])
        let export = TraceExport(of: recorder, version: "1") { _ in
            answers.withLock { $0.removeFirst() }
        }
        // The collector stops in the middle; nothing is forgotten meanwhile.
        await #expect(throws: TraceExport.Failure.self) { try await export.send() }
        #expect(try await export.send() == 500)
        #expect(try await export.send() == 0)
        // What is given back finds no room for all.
        let full = Self.recorder(with: 10, capacity: 10)
        let taken = full.take(4).spans
        for number in 10..<13 { full.withSpan("\(number)") { _ in } }
        full.giveBack(taken, dropped: 2)
        let (spans, dropped) = full.take(20)
        #expect(spans.map(\.name) == ["3"] + (4..<13).map { "\($0)" } && dropped == 5)
    }

    @Test("A caller may leave a trace out, and adds none beyond the share")
    func callersChoice() {
        func count(_ share: Double, _ trace: String, _ flags: String) -> Int {
            let recorder = TraceRecorder(share: share, random: Self.counting())
            var context = ServiceContext.topLevel
            let header = "00-\(trace)-00f067aa0ba902b7-\(flags)"
            recorder.extract(["traceparent": header], into: &context, using: Headers())
            recorder.withSpan("request", context: context) { _ in recorder.withSpan("step") { _ in }
            }
            return recorder.take(10).spans.count
        }
        let (low, high) = (
            String(repeating: "0", count: 31) + "1", String(repeating: "f", count: 32)
        )
        #expect(count(1, high, "01") == 2 && count(1, high, "00") == 0)
        #expect(count(0.1, low, "01") == 2 && count(0.1, high, "01") == 0)
    }

    @Test("Where there are no traces a step is only done")
    func off() async {
        #expect(await Traces.span("commit") { 7 } == 7)
    }
}
