extension Stripe {
    /// All elements of a list, page after page, fetched as they are asked for.
    public struct AutoPaging<Element: IdentifiedObject>: AsyncSequence, Sendable {
        let client: Client
        let path: [String]
        let parameters: Parameters
        /// The element after which it begins.
        let first: String?

        public func makeAsyncIterator() -> Iterator {
            Iterator(list: self)
        }

        public struct Iterator: AsyncIteratorProtocol {
            let list: AutoPaging
            private var page: ArraySlice<Element> = []
            private var last: String?
            private var hasMore = true

            init(list: AutoPaging) {
                self.list = list
                last = list.first
            }

            public mutating func next() async throws(RequestError) -> Element? {
                if page.isEmpty, hasMore { try await turnPage() }
                return page.popFirst()
            }

            private mutating func turnPage() async throws(RequestError) {
                var parameters = list.parameters
                parameters.add("limit", 100)
                parameters.add("starting_after", last)
                let answer = try await list.client.list(list.path, parameters, of: Element.self)
                let data = answer.value.data
                // A page that ends where the one before did would be asked for for ever.
                if let end = data.last?.id, end == last { throw .endlessList }
                page = data[...]
                last = data.last?.id ?? last
                hasMore = answer.value.hasMore && !data.isEmpty
            }
        }
    }
}
