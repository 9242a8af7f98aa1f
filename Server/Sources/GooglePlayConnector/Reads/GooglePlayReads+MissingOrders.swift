internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateCore

// Orders that Google does not show.
extension GooglePlayReads {
    /// Notes that Google did not show an order; once it has been missing for nine weeks, people are told.
    func note(missing order: String, of purchase: Purchase.Key) async throws {
        let now = await context.clocks.now()
        missing.note(order, at: now.milliseconds)
        guard try await isLongMissing(order, of: purchase, at: now) else { return }
        try await park(missing: order, of: purchase, at: now)
    }

    private func isLongMissing(
        _ order: String,
        of purchase: Purchase.Key,
        at now: Instant
    ) async throws -> Bool {
        // A question knows only the token, and not the environment.
        let record = try await record(ofToken: purchase.id, of: purchase.application)
        guard let record, record.isLongMissing(order, at: now) else { return false }
        // Purchases that continue one another may name one order, which is read under one of them.
        let neighbours =
            (record.googlePlay?.predecessors ?? []).map(\.id)
            + (record.googlePlay?.successors ?? []).map(\.id)
        for token in neighbours {
            let other = try await self.record(ofToken: token, of: purchase.application)
            let orders = other?.googlePlay?.orders ?? []
            if orders.contains(where: { $0.value.id == order }) { return false }
        }
        return true
    }

    private func park(
        missing order: String,
        of purchase: Purchase.Key,
        at now: Instant
    ) async throws {
        let body = ParkedOrder(
            packageName: purchase.application,
            parkedMillis: now.milliseconds,
            tollgateOrder: ParkedOrder.Order(orderId: order, purchaseToken: purchase.id)
        )
        _ = try await context.journal(
            Translation(
                .parked(
                    reason:
                        "Google Play does not show this order: its money, and coins that only it states, are not recorded"
                ),
                evidence: Evidence(
                    source: "order:\(order)",
                    key: RowKey("play order not shown", purchase.application, order),
                    stated: now,
                    kind: .delivered,
                    body: Array(try JSONEncoder().encode(body))
                )
            ),
            of: .googlePlay
        )
    }

    /// Ends a question about an order that Google does not show: the daily round asks for it again.
    func endQuestion(about order: String, of purchase: Purchase.Key?) async throws {
        context.logger.warning(
            "Google Play does not show an order; the daily round asks again for orders that its purchase names or skips",
            metadata: ["order": "\(order)"]
        )
        let now = await context.clocks.now()
        guard let purchase, try await isLongMissing(order, of: purchase, at: now) else { return }
        // Somebody has tried it again, and is told anew.
        try await note(missing: order, of: purchase)
    }
}
