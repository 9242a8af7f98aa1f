extension AppStore {
    /// The pages of a list, asked for one after the other as they are consumed.
    public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
        public typealias Element = Page
        public typealias Failure = ServerAPIError

        let operation: String
        /// Asks for the page after a cursor; nil is the first.
        let page: @Sendable (String?) async throws(ServerAPIError) -> Page
        /// The cursor of the next page, nil at the end.
        let cursor: @Sendable (Page) -> String?
        /// Where to begin.
        let start: String?

        public func makeAsyncIterator() -> Iterator { Iterator(pages: self, cursor: start) }

        /// Goes from page to page.
        public struct Iterator: AsyncIteratorProtocol {
            let pages: Pages
            var cursor: String?
            var isAtEnd = false

            public mutating func next() async throws(ServerAPIError) -> Page? {
                guard !isAtEnd else { return nil }
                let page = try await pages.page(cursor)
                let next = pages.cursor(page)
                isAtEnd = next == nil
                if let next, next == cursor {
                    isAtEnd = true
                    throw ServerAPIError(operation: pages.operation, cause: .pagingStuck)
                }
                cursor = next
                return page
            }
        }
    }
}
