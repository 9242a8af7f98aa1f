/// What is due when: a binary heap by instant, then by order of entry.
///
/// An entry that has been overtaken by a change stays in; whoever takes it out compares it with
/// the thing's own due instant.
struct DueQueue: Sendable {
    enum Subject: Hashable, Sendable {
        case subscription(String)
        case notification(String)
        case consumptionRequest(String)
    }

    struct Entry: Sendable {
        var instant: Int64
        var order: Int
        var subject: Subject

        func isBefore(_ other: Entry) -> Bool {
            (instant, order) < (other.instant, other.order)
        }
    }

    private var heap: [Entry] = []
    private var order = 0

    var first: Entry? { heap.first }

    mutating func insert(_ subject: Subject, at instant: Int64) {
        order += 1
        heap.append(Entry(instant: instant, order: order, subject: subject))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() -> Entry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
