internal import Storage
internal import Synchronization
internal import TollgateCore

/// Purchases that the App Store does not know: each is left alone for a day.
///
/// It is kept in memory, by each server for itself; forgetting one costs one more request.
final class UnknownPurchases: Sendable {
    private static let day: Int64 = 86_400_000

    private let capacity: Int
    private let ends = Mutex<[RowKey: Instant]>([:])

    init(capacity: Int = 50_000) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// Returns `true` if the App Store refused less than a day ago.
    func contains(_ purchase: Purchase.Key, at wall: Instant) -> Bool {
        let row = RecordStore.subject(of: purchase)
        return ends.withLock { $0[row].map { wall < $0 } ?? false }
    }

    /// Notes that the App Store has just refused to answer about a purchase.
    func insert(_ purchase: Purchase.Key, at wall: Instant) {
        let row = RecordStore.subject(of: purchase)
        ends.withLock { ends in
            if ends.count >= capacity, ends[row] == nil {
                ends = ends.filter { wall < $0.value }
                if ends.count >= capacity, let next = ends.min(by: { $0.value < $1.value }) {
                    ends[next.key] = nil
                }
            }
            ends[row] = wall.advanced(by: Self.day)
        }
    }
}
