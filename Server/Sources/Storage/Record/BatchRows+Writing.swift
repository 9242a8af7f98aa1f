internal import TollgateCore

extension BatchRows {
    /// Writes the purchases that changed.
    func writePurchases() throws {
        let changed = purchases.filter(\.value.isChanged).sorted { $0.key < $1.key }
        try connection.executeMany(
            """
            INSERT INTO purchase (key, version, record, posted) VALUES ($1, $2, $3, $4)
            ON CONFLICT (key) DO UPDATE
            SET version = excluded.version, record = excluded.record, posted = excluded.posted
            """,
            try changed.map { key, state in
                [
                    key.value, .integer(engineVersion),
                    .blob(try RecordEncoder.encode(state.record)),
                    .blob(try RecordEncoder.encode(state.posting)),
                ]
            }
        )
    }

    /// Writes the customers that changed, and what the feed says of them.
    func writeCustomers() throws {
        let changed = customers.filter(\.value.isChanged).sorted { $0.key < $1.key }
        var messages: [[SQLValue]] = []
        try connection.executeMany(
            """
            INSERT INTO customer (key, environment, sequence, balance, next_change, answer)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (key) DO UPDATE
            SET sequence = excluded.sequence, balance = excluded.balance,
                next_change = excluded.next_change, answer = excluded.answer
            """,
            changed.map { key, state in
                let catalog = history.catalog(ofVersions: state.versions)
                guard !state.isErased else {
                    messages.append(try message(of: key, state, active: []))
                    return [
                        key.value, .integer(state.environment == .production ? 1 : 0),
                        .integer(state.sequence), .integer(state.balance), .null,
                        .blob(CustomerAnswer.erasedBytes),
                    ]
                }
                let timeline = state.answer.timeline(in: catalog)
                let next = timeline.nextChange(after: state.changed)
                messages.append(
                    try message(of: key, state, active: timeline.active(at: state.changed))
                )
                return [
                    key.value, .integer(state.environment == .production ? 1 : 0),
                    .integer(state.sequence), .integer(state.balance),
                    SQLValue(next?.milliseconds), .blob(state.answer.bytes),
                ]
            }
        )
        for (key, state) in customers.sorted(by: { $0.key < $1.key })
        where !state.isChanged && state.hasNews {
            let catalog = history.catalog(ofVersions: state.versions)
            let active = state.answer.timeline(in: catalog).active(at: state.changed)
            messages.append(try message(of: key, state, active: active))
        }
        try connection.executeMany(Batch.messageSQL, messages)
    }

    private func message(
        of key: RowKey,
        _ state: CustomerState,
        active: [ActiveEntitlement]
    ) throws -> [SQLValue] {
        try Batch.message(
            state.news ?? (state.isChanged ? .entitlementsChanged : .purchaseChanged),
            of: key,
            in: state.environment,
            sequence: state.sequence,
            at: state.changed,
            active,
            balance: state.balance,
            purchases: state.purchaseNews
        )
    }
}
