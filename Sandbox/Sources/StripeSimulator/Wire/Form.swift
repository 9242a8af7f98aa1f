import Foundation

/// What `application/x-www-form-urlencoded` says once its brackets are read: `items[0][price]=p`.
///
/// Lists are fields with the names "0", "1", …; `a[]=v` takes the next free number.
indirect enum Form: Hashable, Sendable {
    case text(String)
    case fields([String: Form])

    /// Deeper nesting than any of Stripe's parameters has is refused.
    private static let maximumDepth = 12

    /// Decodes a body or a query.
    ///
    /// Later values of one name replace earlier ones.
    /// - Returns: the fields, or `nil` if brackets or percent signs do not match up.
    static func decode(_ text: String) -> [String: Form]? {
        var root: [String: Form] = [:]
        for pair in text.split(separator: "&", omittingEmptySubsequences: true) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescape(halves[0]),
                let value = unescape(halves.count > 1 ? halves[1] : ""),
                let path = path(of: name), path.count <= maximumDepth
            else { return nil }
            insert(value, at: path[...], into: &root)
        }
        return root
    }

    private static func unescape(_ text: Substring) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    private static func path(of name: String) -> [String]? {
        guard let open = name.firstIndex(of: "[") else { return name.isEmpty ? nil : [name] }
        var path = [String(name[..<open])]
        var rest = name[open...]
        while let first = rest.first {
            guard first == "[", let close = rest.firstIndex(of: "]") else { return nil }
            path.append(String(rest[rest.index(after: rest.startIndex)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        return path.first?.isEmpty == true ? nil : path
    }

    private static func insert(
        _ value: String,
        at path: ArraySlice<String>,
        into fields: inout [String: Form]
    ) {
        guard var name = path.first else { return }
        let rest = path.dropFirst()
        if name.isEmpty {
            // `a[][b]=1&a[][c]=2` stays in one element until a name repeats.
            name = String(fields.count)
            if let next = rest.first, case .fields(let last)? = fields[String(fields.count - 1)],
                last[next] == nil
            {
                name = String(fields.count - 1)
            }
        }
        guard !rest.isEmpty else {
            fields[name] = .text(value)
            return
        }
        var inner: [String: Form] = [:]
        if case .fields(let existing)? = fields[name] { inner = existing }
        insert(value, at: rest, into: &inner)
        fields[name] = .fields(inner)
    }
}
