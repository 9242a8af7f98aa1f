// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Where spans of the server's work are sent.
package struct TraceSettings: Sendable {
    /// The collector's address for traces.
    package let url: String
    package let headers: [(name: String, value: String)]
    /// The part of all traces that is recorded, above 0 and up to 1.
    package let share: Double

    /// Reads `TRACES_…`.
    ///
    /// - Parameters:
    ///   - text: the text of a setting by its name without `TOLLGATE_`; `nil`: it is not set.
    ///   - mistakes: what is wrong is added to these.
    /// - Returns: `nil` where no collector is set, or something is wrong.
    package static func read(
        _ text: (String) -> String?,
        _ mistakes: inout [SettingMistake]
    ) -> TraceSettings? {
        let count = mistakes.count
        guard let endpoint = text("TRACES_ENDPOINT") else {
            for name in ["TRACES_HEADERS", "TRACES_SAMPLE_RATIO"] where text(name) != nil {
                mistakes.append(
                    SettingMistake(
                        name,
                        "this needs ‘endpoint’ (TOLLGATE_TRACES_ENDPOINT), where traces are sent",
                        isOfSeveral: true
                    )
                )
            }
            return nil
        }
        func wrong(_ part: String, _ message: String, isOfSeveral: Bool = false) {
            mistakes.append(SettingMistake("TRACES_" + part, message, isOfSeveral: isOfSeveral))
        }
        let url = url(endpoint)
        if url == nil {
            wrong(
                "ENDPOINT",
                "this is not the address of a collector; write it like http://127.0.0.1:4318, without a user"
            )
        }
        let given = text("TRACES_HEADERS")?.split(separator: ",") ?? []
        let headers = given.compactMap { header(String($0)) }
        if headers.count < given.count {
            wrong("HEADERS", "write each header like ‘Authorization: Bearer KEY’")
        }
        if let url, !headers.isEmpty, url.hasPrefix("http:"), !isOfThisMachine(url) {
            wrong(
                "ENDPOINT",
                "a header may hold a key: use https, or a collector on this machine",
                isOfSeveral: true
            )
        }
        let share = Double(text("TRACES_SAMPLE_RATIO") ?? "1").flatMap {
            $0 > 0 && $0 <= 1 ? $0 : nil
        }
        if share == nil { wrong("SAMPLE_RATIO", "a ratio is a number above 0 and up to 1") }
        guard mistakes.count == count, let url, let share else { return nil }
        return TraceSettings(url: url, headers: headers, share: share)
    }

    private static func isOfThisMachine(_ url: String) -> Bool {
        ["127.0.0.1", "::1", "localhost"].contains(URL(string: url)?.host)
    }

    /// As collectors' addresses are usually given: `/v1/traces` follows.
    /// <https://opentelemetry.io/docs/specs/otel/protocol/exporter/#endpoint-urls-for-otlphttp>
    private static func url(_ endpoint: String) -> String? {
        guard let url = URL(string: endpoint), ["http", "https"].contains(url.scheme),
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
        else { return nil }
        let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// `Name: value`; `nil` for anything else.
    private static func header(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(separator: ":", maxSplits: 1)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isName = { (name: String) in
            !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                        || (byte < 0x80 && Character(UnicodeScalar(byte)).isLetter)
                        || (0x30...0x39).contains(byte)
                }
        }
        guard parts.count == 2, isName(parts[0]), !parts[1].isEmpty,
            parts[1].utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        return (parts[0], parts[1])
    }
}
