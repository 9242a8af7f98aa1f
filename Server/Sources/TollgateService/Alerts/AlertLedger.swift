// SPDX-License-Identifier: Apache-2.0
internal import TollgateCore

/// One line of a message: an alarm that is new, goes on or is over.
struct AlertNews: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case raised
        /// It goes on, a day after it was told last.
        case reminder
        /// The all-clear.
        case cleared
    }

    var kind: Kind
    var name: String
    var sentence: String
    /// `nil` for the all-clear.
    var remedy: String?
    /// When the alarm was first seen, by real time.
    var since: Instant
}

/// The alarms that one channel was told: each once, again after a day, and once when it is over.
struct AlertLedger: Codable, Hashable, Sendable {
    struct Entry: Codable, Hashable, Sendable {
        /// As it was told last.
        var sentence: String
        var since: Instant
        var told: Instant
        /// Since when it is not seen any more; `nil` while it is.
        var gone: Instant?
        /// `true` while quiet hours hold it back and nobody was told; `nil`, not `false`: older ledgers
        /// lack it.
        var isHeldBack: Bool?
        /// `true` once it was; `nil`: it never was.
        var isUrgent: Bool?
    }

    /// The time after which an alarm that goes on is told again, in milliseconds.
    static let reminder: Int64 = 86_400_000
    /// The time without an alarm after which the all-clear is told: what comes and goes is one alarm.
    static let patience: Int64 = 600_000
    /// The time after which news that a channel refused for good are told again, in milliseconds.
    static let pauseAfterRefusal: Int64 = 3_600_000

    /// By the alarms' names.
    private(set) var entries: [String: Entry] = [:]

    /// Takes in what is an alarm now.
    ///
    /// In quiet hours, news of alarms that are not urgent wait. An alarm that is over before it was told
    /// is forgotten.
    ///
    /// - Parameters:
    ///   - wall: real time.
    ///   - isQuiet: true in quiet hours.
    /// - Returns: what is to be told, in the order of names.
    mutating func take(
        _ alarms: [Alarm],
        at wall: Instant,
        isQuiet: Bool = false
    ) -> [AlertNews] {
        var news: [AlertNews] = []
        for alarm in alarms.sorted(by: { $0.name < $1.name }) {
            news += take(alarm, at: wall, waits: isQuiet && !alarm.isUrgent)
        }
        let present = Set(alarms.map(\.name))
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) where !present.contains(name) {
            guard entry.isHeldBack != true else {
                entries[name] = nil
                continue
            }
            guard let gone = entry.gone else {
                entries[name]?.gone = wall
                continue
            }
            guard wall.milliseconds - gone.milliseconds >= Self.patience,
                !isQuiet || entry.isUrgent == true
            else { continue }
            entries[name] = nil
            news.append(
                AlertNews(
                    kind: .cleared,
                    name: name,
                    sentence: entry.sentence,
                    since: entry.since
                )
            )
        }
        return news
    }

    /// Takes news back that were not told, so that they are news again at the next look.
    ///
    /// - Parameter before: the ledger before it took them in.
    mutating func takeBack(_ news: [AlertNews], to before: AlertLedger) {
        for item in news { entries[item.name] = before.entries[item.name] }
    }

    /// Lets news that were refused for good be news again sooner than after a day: whoever mends the
    /// channel hears of what goes on.
    mutating func postpone(_ news: [AlertNews], at wall: Instant) {
        for item in news {
            entries[item.name]?.told = wall.advanced(by: Self.pauseAfterRefusal - Self.reminder)
        }
    }

    /// - Parameter waits: true if nobody is told now.
    private mutating func take(_ alarm: Alarm, at wall: Instant, waits: Bool) -> [AlertNews] {
        let known = entries[alarm.name]
        var entry = known ?? Entry(sentence: alarm.sentence, since: wall, told: wall)
        let isNew = known == nil || known?.isHeldBack == true
        // Whoever was told of it did not hear that it cannot wait.
        let isUrgentNow = alarm.isUrgent && known?.isUrgent != true
        entry.gone = nil
        if alarm.isUrgent { entry.isUrgent = true }
        guard !waits else {
            if isNew { entry.isHeldBack = true }
            entries[alarm.name] = entry
            return []
        }
        if isNew {
            (entry.sentence, entry.told, entry.isHeldBack) = (alarm.sentence, wall, nil)
        }
        let isDue = isUrgentNow || wall.milliseconds - entry.told.milliseconds >= Self.reminder
        if isDue { (entry.sentence, entry.told) = (alarm.sentence, wall) }
        entries[alarm.name] = entry
        guard isNew || isDue else { return [] }
        return [
            AlertNews(
                kind: isNew ? .raised : .reminder,
                name: alarm.name,
                sentence: alarm.sentence,
                remedy: alarm.remedy,
                since: entry.since
            )
        ]
    }
}
