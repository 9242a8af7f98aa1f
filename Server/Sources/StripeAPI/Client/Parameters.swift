internal import StrictJSON

extension Stripe {
    /// The value of a request's parameter.
    public indirect enum Parameter: Hashable, Sendable {
        case string(String)
        case integer(Int64)
        case bool(Bool)
        case list([Parameter])
        case hash(Parameters)
    }

    /// The parameters of a request, in the form encoding that Stripe reads: `a[b]=v`, `a[0]=v`.
    public struct Parameters: Hashable, Sendable, ExpressibleByDictionaryLiteral {
        private var pairs: [Pair]

        private struct Pair: Hashable, Sendable {
            var name: String
            var value: Parameter
        }

        public init(dictionaryLiteral elements: (String, Parameter)...) {
            pairs = elements.map { Pair(name: $0.0, value: $0.1) }
        }

        /// Keys and values like metadata, in the order of the keys.
        public init(_ strings: [String: String]) {
            pairs = strings.sorted { $0.key < $1.key }
                .map { Pair(name: $0.key, value: .string($0.value)) }
        }

        public var isEmpty: Bool { pairs.isEmpty }

        /// Adds a parameter; nil adds nothing.
        ///
        /// (An empty string would unset the value at Stripe.)
        public mutating func add(_ name: String, _ value: Parameter?) {
            if let value { pairs.append(Pair(name: name, value: value)) }
        }

        mutating func add(_ name: String, _ string: String?) {
            add(name, string.map { .string($0) })
        }

        mutating func add(_ name: String, _ integer: Int64?) {
            add(name, integer.map { .integer($0) })
        }

        /// Adds a hash unless it is empty.
        mutating func add(_ name: String, _ hash: Parameters) {
            if !hash.isEmpty { add(name, .hash(hash)) }
        }

        /// The parameters as they stand in a body or a query.
        public var formEncoded: String {
            var fields: [(String, String)] = []
            for pair in pairs { Self.flatten(pair.value, name: pair.name.percentEncoded, &fields) }
            return fields.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        }

        private static func flatten(
            _ value: Parameter,
            name: String,
            _ fields: inout [(String, String)]
        ) {
            switch value {
            case .string(let string): fields.append((name, string))
            case .integer(let integer): fields.append((name, String(integer)))
            case .bool(let bool): fields.append((name, bool ? "true" : "false"))
            case .list(let elements):
                for (index, element) in elements.enumerated() {
                    flatten(element, name: "\(name)[\(index)]", &fields)
                }
            case .hash(let hash):
                for pair in hash.pairs {
                    flatten(pair.value, name: "\(name)[\(pair.name.percentEncoded)]", &fields)
                }
            }
        }
    }
}
