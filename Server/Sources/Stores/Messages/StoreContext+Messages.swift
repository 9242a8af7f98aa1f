internal import Logging
internal import Storage
public import TollgateCore

extension StoreContext {
    /// Journals a message as it came; where the store has sent it anew, the store was heard of.
    public func journal(
        _ translation: Translation,
        of store: Store,
        from message: ReceivedMessage
    ) async throws -> MessageOutcome {
        let outcome = try await journal(translation, of: store)
        if outcome.isNew, case .delivered = message.way {
            heard.note(store, in: translation.environment, at: clocks.wall())
        }
        return outcome
    }

    /// Journals a store's message with its facts and counts what became of it.
    ///
    /// Durable when this returns. What cannot be used, or what the database refuses for what it is,
    /// is parked.
    public func journal(_ translation: Translation, of store: Store) async throws -> MessageOutcome
    {
        let evidence = translation.evidence
        var facts: [Fact] = []
        var subject: RowKey?
        var result = MessageOutcome.recorded
        var wanted = translation.questions
        var wantedAbout: Purchase.Key?
        switch translation.meaning {
        case .facts(let stated, let key):
            facts = stated
            wantedAbout = key
            subject = RecordStore.subject(of: key)
        case .hint(let reads, let about, let reason):
            (wanted, wantedAbout) = (reads, about)
            result = .hint
            logger.info(
                "a message is only a hint; the store is asked",
                metadata: [
                    "store": "\(store.rawValue)", "message": "\(evidence.source)",
                    "reason": "\(reason)",
                ]
            )
        case .rumour(let reads, let about, let outcome):
            count(outcome, of: store)
            guard let about, !reads.isEmpty else { return .nothing }
            for read in reads {
                try await records.questions.want(read, about: about, at: await clocks.now())
            }
            return .recorded
        case .nothing:
            result = .nothing
        case .parked(let reason):
            return try await park(evidence, of: store, because: reason)
        }
        var item = JournalItem.message(
            dedupeKey: evidence.key,
            subject: subject ?? RowKey("message", store.rawValue, evidence.source),
            kind: evidence.kind,
            stated: evidence.stated,
            facts: facts,
            received: evidence.body
        )
        item.wanted = wanted
        item.wantedAbout = wantedAbout
        if facts.isEmpty { item.person = evidence.person }
        let outcome: JournalOutcome
        do {
            outcome = try await records.submit(item)
        } catch {
            guard Self.isOfThisMessage(error) else { throw error }
            return try await park(evidence, of: store, because: "the database refused it: \(error)")
        }
        if case .duplicate = outcome { result = .duplicate }
        count(result.label, of: store)
        if result != .duplicate, let left = translation.leftToTheTeam {
            tell(left, evidence.source, of: store)
        }
        return result
    }

    /// Keeps a message aside, says so once, and counts it.
    private func park(
        _ evidence: Evidence,
        of store: Store,
        because reason: String
    ) async throws -> MessageOutcome {
        let isNew = try await records.parked.park(
            ParkedMessage(
                key: evidence.key,
                store: store,
                source: evidence.source,
                reason: reason,
                body: evidence.body,
                received: await clocks.now()
            )
        )
        if isNew {
            logger.error(
                "a genuine message could not be used and is parked; see 'tollgate parked list'",
                metadata: [
                    "store": "\(store.rawValue)", "message": "\(evidence.source)",
                    "reason": "\(reason)",
                ]
            )
        }
        count(MessageOutcome.parked.label, of: store)
        return .parked
    }

    /// Whether the database refused a message for what it is, so that the next attempt would end
    /// the same way.
    private static func isOfThisMessage(_ error: any Error) -> Bool {
        guard let error = error as? StorageError else { return !(error is CancellationError) }
        switch error.kind {
        case .constraintViolation, .typeMismatch, .other, .corrupt: return true
        default: return false
        }
    }

    private func count(_ outcome: String, of store: Store) {
        counters.count(
            "tollgate_messages_total",
            "store=\"\(store.rawValue)\",outcome=\"\(outcome)\""
        )
    }

    private func tell(_ left: Translation.LeftToTheTeam, _ source: String, of store: Store) {
        var labels = "store=\"\(store.rawValue)\",type=\"\(left.type)\""
        var metadata: Logger.Metadata = [
            "store": "\(store.rawValue)", "type": "\(left.type)", "notification": "\(source)",
        ]
        if let subtype = left.subtype {
            labels += ",subtype=\"\(subtype)\""
            metadata["subtype"] = "\(subtype)"
        }
        counters.count("tollgate_left_to_you_total", labels)
        logger.warning(
            "a store asks for something that this server leaves to you",
            metadata: metadata
        )
    }
}
