// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Tracing

/// The body of `POST /v1/traces` of the OpenTelemetry protocol, in JSON: ids in hexadecimal, 64-bit
/// numbers as texts.
/// <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>
struct OTLPTraces: Encodable {
    struct Attribute: Encodable {
        struct Value: Encodable {
            var stringValue: String?
            var intValue: String?
        }
        var key: String
        var value: Value

        init(_ key: String, _ value: EndedSpan.Value) {
            self.key = key
            switch value {
            case .text(let text): self.value = Value(stringValue: text)
            case .number(let number): self.value = Value(intValue: "\(number)")
            }
        }
    }
    struct Status: Encodable { var code = 2 }
    struct Span: Encodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [Attribute]
        /// Absent: unset.
        var status: Status?

        init(_ span: EndedSpan) {
            traceId = span.place.traceID
            spanId = span.place.spanID
            parentSpanId = span.parent.map(TraceParent.hex)
            name = span.name
            kind =
                switch span.kind {
                case .server: 2
                case .client: 3
                case .producer: 4
                case .consumer: 5
                default: 1
                }
            startTimeUnixNano = "\(span.begun)"
            endTimeUnixNano = "\(span.ended)"
            attributes = span.attributes.sorted { $0.key < $1.key }.map(Attribute.init)
            if let error = span.error {
                attributes.append(Attribute("error.type", .text(error)))
                status = Status()
            }
        }
    }
    struct Scope: Encodable {
        var name: String
        var version: String
    }
    struct ScopeSpans: Encodable {
        var scope: Scope
        var spans: [Span]
    }
    struct Resource: Encodable { var attributes: [Attribute] }
    struct ResourceSpans: Encodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }

    var resourceSpans: [ResourceSpans]

    init(_ spans: [EndedSpan], version: String) {
        let attributes = [
            Attribute("service.name", .text("tollgate")),
            Attribute("service.version", .text(version)),
            Attribute("telemetry.sdk.language", .text("swift")),
            Attribute("telemetry.sdk.name", .text("tollgate")),
        ]
        resourceSpans = [
            ResourceSpans(
                resource: Resource(attributes: attributes),
                scopeSpans: [
                    ScopeSpans(
                        scope: Scope(name: "tollgate", version: version),
                        spans: spans.map(Span.init)
                    )
                ]
            )
        ]
    }

    func json() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}
