public import StrictJSON

extension Stripe {
    /// Something that Stripe sends as a JSON object.
    ///
    /// Its JSON is kept, so that what a newer version added is still there for who comes later.
    public protocol Object: Hashable, Sendable {
        /// The value of the field `object`.
        static var objectName: String { get }
        /// The object as Stripe sent it.
        var json: JSON { get }
        /// Reads the fields that we know; others are left alone.
        init(_ json: JSON) throws(DecodingError)
    }

    /// An object with an id.
    public protocol IdentifiedObject: Object {
        var id: String { get }
    }

    /// A word of Stripe's from a list that grows.
    ///
    /// One we do not know is kept as it came.
    public protocol OpenEnum: RawRepresentable, Hashable, Sendable, CustomStringConvertible
    where RawValue == String {
        init(rawValue: String)
    }

    /// A field that holds an object's id, or the object itself if the request asked to expand it.
    public struct IDOrObject<Value: IdentifiedObject>: Hashable, Sendable {
        /// The id in both cases.
        public let id: String
        /// The object's JSON, if it was expanded.
        public let json: JSON?

        /// The object, if it was expanded and was not deleted.
        public func object() throws(DecodingError) -> Value? {
            guard let json, json["deleted"]?.bool != true else { return nil }
            return try Value(json)
        }
    }

    /// One page of a list.
    public struct List<Element: Object>: Hashable, Sendable {
        /// The elements of this page, newest first in most lists.
        public let data: [Element]
        /// Whether there are more pages.
        public let hasMore: Bool

        init(_ json: JSON, in object: String, field: String) throws(DecodingError) {
            let fields = try Fields(json, of: "\(object).\(field)")
            guard let data = json["data"], data.kind == .array else {
                throw DecodingError(object: object, field: "\(field).data", expected: "a list")
            }
            var elements: [Element] = []
            for element in data.elements { elements.append(try Element(element)) }
            self.data = elements
            hasMore = try fields.optionalBool("has_more") ?? false
        }
    }
}

extension Stripe.OpenEnum {
    public var description: String { rawValue }
}
