#if DEBUG
    import Storage
    import TollgateCore

    /// A way into the journal with a mistake in it, to prove that the simulation finds mistakes.
    private struct PlantedWriter: JournalWriter {
        let inner: any JournalWriter
        let alter: @Sendable (JournalItem) -> JournalItem?

        var history: CatalogHistory { inner.history }
        var waiting: Int { inner.waiting }

        /// Journals what the planted bug makes of `item`, or says so of what it drops.
        func submit(_ item: JournalItem) async throws -> JournalOutcome {
            guard let altered = alter(item) else { return .recorded }
            return try await inner.submit(altered)
        }
    }

    extension RecordStore {
        /// The same record, into which everything is journalled as the planted bug makes it.
        func planted(with planting: Planting) -> RecordStore {
            planted { planting.alter($0) }
        }

        /// The same record, into which everything is journalled as `alter` makes it.
        func planted(
            _ alter: @escaping @Sendable (JournalItem) -> JournalItem?
        ) -> RecordStore {
            RecordStore(driver, writer: PlantedWriter(inner: writer, alter: alter))
        }
    }
#endif
