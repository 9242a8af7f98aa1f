import ServiceLifecycle
import Storage
import Stores
import TollgateCore
import TollgateServer
import TollgateService

/// The background work of a server.
struct RecurringWork: Sendable {
    let tollgate: Tollgate
    /// `nil`: nobody is told of alarms.
    let alarming: Alarming?
    /// Emails to customers by the settings of the moment; `nil`: none are sent.
    let emails: @Sendable () -> LetterSetUp?

    var all: [any Service] {
        reconciling + listening + alerts + [
            questions, storeReports, figures, accessChecks, events, letters,
            Delivering(deliveries: tollgate.webhookDeliveries), signingKeys, keyUses, lastMessages,
            expired,
        ]
    }

    /// Asks the stores for what their messages did not carry.
    private var questions: some Service {
        Recurring("store_questions", of: tollgate, every: .milliseconds(500)) { [tollgate] in
            var isWell = await tollgate.fetchWanted()
            // What fails is tried again when there is more to keep, or the next time.
            for connector in tollgate.connectors {
                do { try await connector.keepWhatIsKnown() } catch { isWell = false }
            }
            guard isWell else { return .failed }
            return .idle(try await Questions.idleTime(in: tollgate.context))
        }
    }

    /// Fetches what waits in the queues of stores that do not tell by themselves.
    private var listening: [any Service] {
        tollgate.connectors.compactMap { connector in
            connector.listening.map { rhythm in
                Recurring(
                    "\(connector.store.rawValue)_messages",
                    of: tollgate,
                    after: rhythm.start,
                    every: rhythm.pause,
                    afterFailure: rhythm.pauseAfterFailure
                ) {
                    await connector.listen() ? .done : .failed
                }
            }
        }
    }

    /// Asks each store for what the record lacks.
    private var reconciling: [any Service] {
        tollgate.connectors.map { connector in
            Recurring(
                connector.store.rawValue,
                of: tollgate,
                after: connector.reconciling.start,
                every: connector.reconciling.pause,
                afterFailure: connector.reconciling.pauseAfterFailure
            ) {
                try await connector.reconcileIfDue() ? .done : .failed
            }
        }
    }

    /// Fetches the stores' sales and finance reports, balance transactions and payouts, once an hour;
    /// on PostgreSQL all servers together.
    private var storeReports: some Service {
        Recurring(
            "store_reports",
            of: tollgate,
            after: .seconds(5),
            every: .seconds(60),
            afterFailure: .seconds(600)
        ) { [tollgate] in
            await tollgate.accounts.fetchReportsIfDue(every: 3600) ? .done : .failed
        }
    }

    /// Keeps the figures of reports in step with the journal, out of the way of everybody else.
    private var figures: some Service {
        Recurring(
            "figures",
            of: tollgate,
            every: .milliseconds(500),
            keeping: FigurePace()
        ) { [tollgate] pace in
            pace.begin()
            let isDone = try await tollgate.figures.followOnce()
            let newest = try? await tollgate.store.figures.journalEnd()
            let rest = pace.rest(after: isDone, newest: newest)
            return try await tollgate.figures.areComplete()
                ? .idle(Clocks.longestIdleTime) : .resting(rest)
        }
    }

    /// Checks each night, and after each change of the engine, who may use what, against a second
    /// opinion.
    ///
    /// It rests as long as it works, so that at most half of the machine is busy with it.
    private var accessChecks: some Service {
        Recurring(
            "access_check",
            of: tollgate,
            after: .seconds(20),
            every: .seconds(60),
            afterFailure: .seconds(600)
        ) { [tollgate] in
            let clock = ContinuousClock()
            let pace = CheckPace(clock.now)
            let isDone = await tollgate.accessChecks.checkIfDue {
                try? await Task.sleep(for: min(.seconds(1), await pace.worked(until: clock.now)))
                await pace.rested(until: clock.now)
            }
            return isDone ? .done : .failed
        }
    }

    /// Gives events their places in the feed.
    private var events: some Service {
        Recurring("events", of: tollgate, every: .milliseconds(250)) { [tollgate] in
            guard await tollgate.events.publish() else { return .failed }
            return .idle(try await tollgate.events.idleTime())
        }
    }

    /// Takes over the signing keys that another server, or a command, has made: three times within
    /// the minute after which a key may sign.
    private var signingKeys: some Service {
        Recurring("signing_keys", of: tollgate, after: .seconds(20), every: .seconds(20)) {
            [tollgate] in
            await tollgate.signingKeys.refresh() ? .done : .failed
        }
    }

    /// Writes once a minute when secret keys were used last, and when the server ends.
    private var keyUses: some Service {
        Recurring(
            "key_uses",
            of: tollgate,
            after: .seconds(60),
            every: .seconds(60),
            atEnd: { [tollgate] in await tollgate.secretKeys.keepUses() }
        ) { [tollgate] in
            await tollgate.secretKeys.keepUses() ? .done : .failed
        }
    }

    /// Keeps when each store was heard of last, for `tollgate doctor`; also when the server ends.
    private var lastMessages: some Service {
        Recurring(
            "last_messages",
            of: tollgate,
            after: .seconds(60),
            every: .seconds(60),
            atEnd: { [tollgate] in try? await tollgate.lastMessages.keep() }
        ) { [tollgate] in
            try await tollgate.lastMessages.keep()
            return .done
        }
    }

    /// Emails customers, by the settings of the moment.
    private var letters: some Service {
        Recurring(
            "emails",
            of: tollgate,
            after: .seconds(3),
            every: .seconds(5),
            afterFailure: .seconds(60)
        ) { [tollgate, emails] in
            guard let setUp = emails() else {
                return await tollgate.noteLettersAreOff() ? .done : .failed
            }
            return await tollgate.letters(setUp).work() ? .done : .failed
        }
    }

    /// Tells of alarms, by the settings of the moment.
    private var alerts: [any Service] {
        guard let alarming else { return [] }
        return [
            Recurring(
                "alerts",
                of: tollgate,
                after: .seconds(2),
                every: .seconds(60),
                afterFailure: .seconds(300)
            ) { [tollgate] in
                guard let alerts = alarming.alerts(of: tollgate) else { return .done }
                return await alerts.watch() ? .done : .failed
            }
        ]
    }

    /// Drops what has expired, also while nobody writes: kept replies after two days, and sessions.
    private var expired: some Service {
        Recurring("expired", of: tollgate, every: .seconds(60)) { [tollgate] in
            await tollgate.replies.dropExpired() ? .done : .failed
        }
    }
}

/// When the work began that was not rested for yet.
private actor CheckPace {
    private var begin: ContinuousClock.Instant

    init(_ begin: ContinuousClock.Instant) { self.begin = begin }

    func worked(until now: ContinuousClock.Instant) -> Duration { now - begin }
    func rested(until now: ContinuousClock.Instant) { begin = now }
}

/// Sends events to the app's backend, to each endpoint in its own time.
private struct Delivering: Service {
    let deliveries: WebhookDeliveries

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await deliveries.keepDelivering(every: .milliseconds(250))
        }
    }
}
