extension JSON {
    /// The elements in their order; none if this is no array.
    public var elements: Elements { Elements(parent: self) }

    /// The members in the order of the text; none if this is no object.
    public var members: Members { Members(parent: self) }

    /// The elements of an array.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        private let document: Document
        private var next_: Int
        private let end: Int

        init(parent: JSON) {
            document = parent.document
            next_ = parent.index + 1
            let node = document.nodes[parent.index]
            end = node.kind == .array ? Int(node.next) : next_
        }

        public mutating func next() -> JSON? {
            guard next_ < end else { return nil }
            let value = JSON(document: document, index: next_)
            next_ = document.index(after: next_)
            return value
        }
    }

    /// The members of an object.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        private let document: Document
        private var next_: Int
        private let end: Int

        init(parent: JSON) {
            document = parent.document
            next_ = parent.index + 1
            let node = document.nodes[parent.index]
            end = node.kind == .object ? Int(node.next) : next_
        }

        public mutating func next() -> (name: String, value: JSON)? {
            guard next_ < end else { return nil }
            let name = document.withContent(next_) { String(decoding: $0, as: UTF8.self) }
            let value = JSON(document: document, index: next_ + 1)
            next_ = document.index(after: next_ + 1)
            return (name, value)
        }
    }
}
