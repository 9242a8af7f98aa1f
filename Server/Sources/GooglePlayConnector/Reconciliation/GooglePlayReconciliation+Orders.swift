internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateCore

extension GooglePlayReconciliation {
    /// Milliseconds between two rounds over the orders.
    private static let orderPause: Int64 = 86_400_000
    /// Records that one pass looks at, and orders that it reads.
    private static let (mostRecords, mostOrders) = (5_000, 500)
    /// Orders in one call: Google allows 1,000, but the address of so many is longer than proxies take.
    private static let mostInACall = 100
    /// Orders that are read one by one once a call for them has failed.
    private static let fewest = 8

    /// An order that may still change.
    private struct OpenOrder {
        var id: String
        var key: Purchase.Key
        /// The row of its purchase.
        var row: RowKey
    }

    /// Reads the orders of the next purchases of the round: a refund of a part, or one that leaves the
    /// access, is told by nothing else.
    ///
    /// Many orders are read in one call, since Google counts calls.
    func readOrders(
        _ app: GooglePlaySetUp.App,
        _ place: inout Place,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        let now = await context.clocks.now().milliseconds
        let before = place.ordersSince
        if place.ordersAfter == nil {
            if let before, before <= now, now - before < Self.orderPause { return }
            place.ordersSince = now
        }
        do {
            var (looked, asked) = (0, 0)
            var last = place.ordersAfter
            var open: [OpenOrder] = []
            while looked < Self.mostRecords, asked < Self.mostOrders {
                let page = try await context.records.records(after: last, limit: 500)
                for (row, record) in page {
                    looked += 1
                    last = row
                    guard record.key.store == .googlePlay,
                        record.key.application == app.packageName
                    else { continue }
                    // Purchases that continue one another may name the same order.
                    for id in record.openOrders(at: now)
                    where missing.isDue(id, at: now) && !open.contains(where: { $0.id == id }) {
                        open.append(OpenOrder(id: id, key: record.key, row: row))
                    }
                    guard open.count >= Self.mostInACall else { continue }
                    asked += open.count
                    try await read(open, app, &place, &found, &troubles, prolong)
                    open = []
                    place.ordersAfter = row
                }
                if page.isEmpty {
                    try await read(open, app, &place, &found, &troubles, prolong)
                    place.ordersAfter = nil
                    return
                }
            }
            try await read(open, app, &place, &found, &troubles, prolong)
            place.ordersAfter = last
        } catch {
            // A round of which nothing was read has not begun.
            if place.ordersAfter == nil { place.ordersSince = before }
            throw error
        }
    }

    private func read(
        _ open: [OpenOrder],
        _ app: GooglePlaySetUp.App,
        _ place: inout Place,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        // One that Google did not show would fail the call for all.
        let alone = open.filter { missing.holds($0.id) }
        let others = open.filter { !missing.holds($0.id) }
        var parts = others.batches(of: Self.mostInACall).reversed().map(Array.init)
        parts = alone.map { [$0] } + parts
        while let part = parts.popLast() {
            let (left, isSplit) = try await readTogether(part, app, &found, &troubles)
            try await prolong()
            if isSplit {
                let half = left.count / 2
                parts += [Array(left[half...]), Array(left[..<half])]
                continue
            }
            for order in left {
                let trouble = try await read(order, app, &found, &troubles)
                try await prolong()
                guard let trouble else { continue }
                // The next pass goes on behind it.
                place.ordersAfter = order.row
                throw trouble
            }
        }
    }

    /// Reads orders in one call.
    ///
    /// - Returns: those that are still to be read, and `true` where they are read together in halves:
    ///   one of them fails the whole call.
    /// - Throws: faults that concern more than these orders.
    private func readTogether(
        _ orders: [OpenOrder],
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles
    ) async throws -> (left: [OpenOrder], isSplit: Bool) {
        guard orders.count > 1 else { return (orders, false) }
        do {
            let outcomes = try await reads.read(
                orders: orders.map(\.id),
                of: app,
                leaving: Self.reserve
            )
            troubles.end()
            found.orders += outcomes.count
            progress(WorkProgress(step: "orders", done: found.orders))
            found.orderNews += outcomes.values.count { $0.isNews }
            return (orders.filter { outcomes[$0.id] == nil }, false)
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notAllowed, .tooMany: throw fault
            // It may be one order's own fault, or the end of all answers: three calls tell.
            case .unavailable: return (orders, false)
            case .notFound, .noLongerReadable, .invalid, .changedMeanwhile, .unreadable:
                return (orders, orders.count > Self.fewest)
            }
        }
    }

    /// Reads one order.
    ///
    /// - Returns: the fault after which the pass ends here: Google is in trouble.
    /// - Throws: faults that concern more than this order.
    private func read(
        _ order: OpenOrder,
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled,
        _ troubles: inout Troubles
    ) async throws -> GooglePlay.APIFault? {
        found.orders += 1
        progress(WorkProgress(step: "orders", done: found.orders))
        do {
            let outcome = try await reads.read(order: order.id, of: app, leaving: Self.reserve)
            troubles.end()
            if outcome.isNews { found.orderNews += 1 }
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notAllowed, .tooMany: throw fault
            case .unavailable:
                found.unreadable += 1
                try await askLater(.googlePlayOrder, order.id, about: order.key)
                return troubles.add() ? fault : nil
            case .notFound, .noLongerReadable, .invalid:
                try await reads.note(missing: order.id, of: order.key)
                found.unreadable += 1
            case .changedMeanwhile, .unreadable:
                found.unreadable += 1
            }
        }
        return nil
    }
}

extension Purchase {
    /// The orders to read today, of those that may still change.
    ///
    /// Google refunds for three years. An order is read each day for ninety days after it was charged
    /// and after its period has ended; later, a thirtieth of the orders is read each day. One that was
    /// never read counts from the first read that names it, a skipped renewal from the first one that
    /// names a later order.
    fileprivate func openOrders(at now: Int64) -> [String] {
        guard let play = googlePlay else { return [] }
        let day: Int64 = 86_400_000
        var orders: Set<String> = []
        func add(_ id: String, since instant: Instant?) {
            let age = now - (instant?.milliseconds ?? now)
            let turn = id.utf8.reduce(Int64(0)) { ($0 * 31 + Int64($1)) % 30 }
            if age <= 90 * day || (age <= 3 * 366 * day && now / day % 30 == turn) {
                orders.insert(id)
            }
        }
        for (order, since) in neverRead { add(order, since: since) }
        for order in play.orders.map(\.value)
        where order.state != "REFUNDED" && order.state != "CANCELED" {
            let ends =
                order.lines.compactMap(\.end)
                + [order.processed ?? order.created].compactMap(\.self)
            add(order.id, since: ends.max())
        }
        return orders.sorted()
    }

    /// The orders that reads of the purchase name or skip, and that were never read; with the instant
    /// from which on each was to be read.
    private var neverRead: [(order: String, since: Instant?)] {
        guard let play = googlePlay else { return [] }
        let known = Set(play.orders.map(\.value.id))
        var orders: [(order: String, since: Instant?)] = play.periods.map { ($0.order, $0.first) }
        orders += SkippedRenewals.orders(of: play).map { ($0.order, $0.since) }
        if let order = play.purchase?.value.order { orders.append((order, play.completed)) }
        return orders.filter { !known.contains($0.order) }
    }

    /// Whether an order was to be read nine weeks ago, and never was.
    ///
    /// It follows from the record, so it holds after a restart too.
    func isLongMissing(_ order: String, at now: Instant) -> Bool {
        neverRead.contains { one in
            one.order == order
                && (one.since.map { $0.advanced(by: Self.longestSilence) <= now } ?? false)
        }
    }

    /// Nine weeks, in milliseconds.
    private static let longestSilence: Int64 = 63 * 86_400_000
}
