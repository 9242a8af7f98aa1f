// SPDX-License-Identifier: Apache-2.0

/// Sends what a recorder kept to a collector of OpenTelemetry.
public struct TraceExport: Sendable {
    /// Why spans were not taken.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        public let description: String
    }

    /// Posts a JSON body, and returns the answer's status.
    public typealias Post = @Sendable (_ body: [UInt8]) async throws -> Int

    private let recorder: TraceRecorder
    private let version: String
    private let post: Post

    /// How many spans one request carries.
    private static let most = 512

    public init(of recorder: TraceRecorder, version: String, post: @escaping Post) {
        self.recorder = recorder
        self.version = version
        self.post = post
    }

    /// Sends everything that has ended.
    ///
    /// Spans that a collector cannot take now are sent with the next call; spans that it refuses are dropped.
    /// <https://opentelemetry.io/docs/specs/otlp/#failures-1>
    /// - Returns: how many spans were dropped since the last call that returned, because they ended
    ///   faster than they were sent.
    /// - Throws: `Failure`, or why there was no answer.
    public func send() async throws -> Int {
        var sum = 0
        while true {
            let (spans, dropped) = recorder.take(Self.most)
            sum += dropped
            guard !spans.isEmpty else { return sum }
            do {
                let status = try await post(try OTLPTraces(spans, version: version).json())
                if (200..<300).contains(status) { continue }
                guard [429, 502, 503, 504].contains(status) else {
                    recorder.giveBack([], dropped: sum)
                    throw Failure(
                        description:
                            "the collector of traces refuses \(spans.count) spans with \(status)"
                    )
                }
                recorder.giveBack(spans, dropped: sum)
                throw Failure(description: "the collector of traces answers \(status)")
            } catch let failure as Failure {
                throw failure
            } catch {
                recorder.giveBack(spans, dropped: sum)
                throw error
            }
        }
    }
}
