// SPDX-License-Identifier: Apache-2.0
extension ArraySlice where Element: Sendable {
    /// Does the work for all elements at once.
    ///
    /// - Returns: each element with its result, in their order.
    package func results<Success: Sendable>(
        _ work: @escaping @Sendable (Element) async throws -> Success
    ) async -> [(Element, Result<Success, any Error>)] {
        await withTaskGroup(of: (Int, Result<Success, any Error>).self) { group in
            for index in indices {
                group.addTask { [element = self[index]] in
                    (index, await Self.result(of: element, work))
                }
            }
            var results: [Int: Result<Success, any Error>] = [:]
            for await (index, result) in group { results[index] = result }
            return indices.compactMap { index in results[index].map { (self[index], $0) } }
        }
    }

    // A function of its own: with its `do` and `catch` in the task's closure, Swift 6.3.1 with `-O`
    // returns some other number as the index.
    private static func result<Success: Sendable>(
        of element: Element,
        _ work: @Sendable (Element) async throws -> Success
    ) async -> Result<Success, any Error> {
        do { return .success(try await work(element)) } catch { return .failure(error) }
    }
}
