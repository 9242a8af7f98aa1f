// SPDX-License-Identifier: Apache-2.0

/// Sends what a recorder kept to a collector of OpenTelemetry.
public struct TraceExport: Sendable {
    /// Why spans were not taken, or that some were dropped.
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
    /// What a collector cannot take now is sent with the next call; what it refuses is dropped.
    /// <https://opentelemetry.io/docs/specs/otlp/#failures-1>
    /// - Throws: `Failure`, or why there was no answer.
    public func send() async throws {
        while true {
            let (spans, dropped) = recorder.take(Self.most)
            guard !spans.isEmpty else { return }
            let status: Int
            do {
                status = try await post(try OTLPTraces(spans, version: version).json())
            } catch {
                recorder.giveBack(spans)
                throw error
            }
            if [429, 502, 503, 504].contains(status) {
                recorder.giveBack(spans)
                throw Failure(description: "the collector of traces answers \(status)")
            }
            guard (200..<300).contains(status) else {
                throw Failure(
                    description:
                        "the collector of traces refuses \(spans.count) spans with \(status)"
                )
            }
            guard dropped == 0 else {
                throw Failure(
                    description: "\(dropped) spans were dropped: they end faster than they are sent"
                )
            }
        }
    }
}
