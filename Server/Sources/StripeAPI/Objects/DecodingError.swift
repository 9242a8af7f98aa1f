extension Stripe {
    /// Why an object of Stripe's could not be read.
    ///
    /// Names the field, never what stood in it.
    public struct DecodingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of object, in Stripe's word: `subscription`.
        public var object: String
        /// The field, with its way inside the object: `items.data`; empty for the object itself.
        public var field: String
        /// What should be there.
        public var expected: String

        public init(object: String, field: String, expected: String) {
            (self.object, self.field, self.expected) = (object, field, expected)
        }

        public var description: String {
            field.isEmpty
                ? "Stripe's \(object) is not \(expected)"
                : "‘\(field)’ of Stripe's \(object) is not \(expected)"
        }
    }
}
