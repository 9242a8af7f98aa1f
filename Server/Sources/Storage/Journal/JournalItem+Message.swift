public import TollgateCore

extension JournalItem {
    /// A store's message, with the certificate chains in its body kept once for all.
    ///
    /// - Parameters:
    ///   - facts: all about one purchase; none for what is only kept.
    ///   - received: the exact bytes.
    public static func message(
        dedupeKey: RowKey,
        subject: RowKey,
        kind: Kind,
        stated: Instant,
        facts: [Fact],
        received: [UInt8]
    ) -> JournalItem {
        let body = SignedBody(received)
        var item = JournalItem(
            dedupeKey: dedupeKey,
            subject: subject,
            kind: kind,
            stated: stated,
            content: .facts(facts),
            received: received,
            body: body.compact,
            segments: body.segments.map { ($0.id, $0.bytes) }
        )
        item.keptFacts = try? JournalContent.facts(facts).kept()
        return item
    }
}
