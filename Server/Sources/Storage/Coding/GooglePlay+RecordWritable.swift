package import TollgateCore

// Google Play's record, and the read that is most often taken in.
extension GooglePlayRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("subscription", subscription)
        record.add("began", began)
        try record.add("purchase", purchase)
        record.add("isContested", isContested)
        try record.add("account", account)
        try record.add("resubscription", resubscription)
        try record.add("periods", periods)
        record.add("completed", completed)
        record.add("cancelled", cancelled)
        try record.add("orders", orders)
        try record.add("voids", voids)
        try record.add("unreadable", unreadable)
        try record.add("outage", outage)
        try record.add("predecessors", predecessors)
        try record.add("successors", successors)
        try record.add("inheritedOrders", inheritedOrders)
        try record.add("failures", failures)
        try record.add("suspensions", suspensions)
        record.close()
    }
}

extension GooglePlaySubscription: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("state", state)
        record.add("start", start)
        try record.add("items", items)
        record.add("linkedToken", linkedToken)
        record.add("account", account)
        try record.add("resubscription", resubscription)
        record.add("isAcknowledged", isAcknowledged)
        record.add("canceledBy", canceledBy)
        record.add("canceledAt", canceledAt)
        record.add("resumes", resumes)
        record.add("region", region)
        record.close()
    }
}

extension GooglePlaySubscription.Item: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("product", product)
        record.add("basePlan", basePlan)
        record.add("offer", offer)
        record.add("expiry", expiry)
        record.add("order", order)
        record.add("renews", renews)
        try record.add("isPrepaid", isPrepaid)
        record.add("phase", phase)
        try record.add("price", price)
        record.add("replacement", replacement)
        try record.add("isRemoved", isRemoved)
        try record.add("awaitsConsent", awaitsConsent)
        record.add("committedPayments", committedPayments)
        record.close()
    }
}

extension GooglePlayMoney: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("micros", micros)
        record.add("currency", currency)
        record.close()
    }
}

extension GooglePlayPeriod: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("order", order)
        record.add("product", product)
        record.add("plan", plan)
        record.add("first", first)
        record.add("paidUntil", paidUntil)
        record.add("paidSince", paidSince)
        try record.add("isProration", isProration)
        record.close()
    }
}

extension GooglePlaySubscription.Resubscription: RecordWritable {}
extension GooglePlayPurchase: RecordWritable {}
extension GooglePlayOrder: RecordWritable {}
extension GooglePlayVoid: RecordWritable {}
extension GooglePlaySuspension: RecordWritable {}
extension GooglePlayUnreadable: RecordWritable {}
