/// The statements behind pages that people browse.
///
/// Each finds its rows by an index, whatever the size of the tables: a test has both databases
/// explain every one of them.
package enum BrowsingSQL {
    static let auditColumns =
        "id, at, actor, role, action, subject, detail, before, after, outcome, request"
    package static let audit =
        "SELECT \(auditColumns) FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2"
    package static let auditOfSubject = """
        SELECT \(auditColumns) FROM audit WHERE subject = $1 AND id < $2
        ORDER BY id DESC LIMIT $3
        """
    package static let auditOfActor = """
        SELECT \(auditColumns) FROM audit WHERE actor = $1 AND id < $2
        ORDER BY id DESC LIMIT $3
        """

    package static let journal = """
        SELECT id, subject, kind, stated, facts FROM journal
        WHERE id < $1 ORDER BY id DESC LIMIT $2
        """
    package static let journalOfSubject = """
        SELECT id, subject, kind, stated, facts FROM journal
        WHERE subject = $1 AND id < $2 ORDER BY id DESC LIMIT $3
        """
    package static let journalRow = """
        SELECT id, subject, kind, stated, facts, body, digest FROM journal
        WHERE id = $1
        """
    package static let journalByDedupeKey = "SELECT id FROM journal WHERE dedupe_key = $1"
    package static let subjects = """
        SELECT id, subject, stated FROM journal WHERE id < $1 ORDER BY id DESC LIMIT $2
        """
    package static let record = "SELECT record FROM purchase WHERE key = $1"
    package static let segment = "SELECT bytes FROM segment WHERE id = $1"
    package static let profileOfRow = "SELECT id, body FROM profile WHERE customer = $1"
    package static let customersOfEmail = """
        SELECT profile.id, profile.body FROM profile_email
        JOIN profile ON profile.customer = profile_email.customer
        WHERE profile_email.email = $1 ORDER BY profile_email.customer LIMIT $2
        """
    package static let messages = """
        SELECT number, customer, environment, sequence, kind, created, body FROM message
        WHERE number < $1 ORDER BY number DESC LIMIT $2
        """
    package static let sessions =
        "SELECT expires FROM session WHERE customer = $1 ORDER BY expires DESC LIMIT $2"
    package static let transfers = """
        SELECT lot, amount, journal FROM transfer
        WHERE customer = $1 ORDER BY journal DESC, id DESC LIMIT $2
        """
    package static let journalClock = "SELECT stated FROM journal WHERE id = $1"
    package static let holdings =
        "SELECT purchase FROM holding WHERE holder = $1 ORDER BY purchase LIMIT $2"
    /// Queues are short; should one not be, counting stops.
    package static let waitingMessages = """
        SELECT count(*), min(created) FROM (
            SELECT created FROM message WHERE number IS NULL ORDER BY id LIMIT 10000
        ) AS waiting
        """
    package static let newestMessage =
        "SELECT number, created FROM message WHERE number < $1 ORDER BY number DESC LIMIT 1"
    package static let newestJournal =
        "SELECT id, stated FROM journal WHERE id < $1 ORDER BY id DESC LIMIT 1"

    /// Every one, with values that it can be explained with.
    package static var all: [(sql: String, parameters: [SQLValue])] {
        let key = SQLValue.blob(Array(repeating: 7, count: 16))
        let last = SQLValue.integer(.max)
        let limit = SQLValue.integer(50)
        return [
            (audit, [last, limit]), (auditOfSubject, [.text("x"), last, limit]),
            (auditOfActor, [.text("x"), last, limit]), (journal, [last, limit]),
            (journalOfSubject, [key, last, limit]), (journalRow, [.integer(1)]),
            (journalClock, [.integer(1)]),
            (journalByDedupeKey, [key]), (subjects, [last, limit]), (record, [key]),
            (segment, [key]), (profileOfRow, [key]), (customersOfEmail, [key, limit]),
            (messages, [last, limit]), (sessions, [key, limit]), (transfers, [key, limit]),
            (holdings, [key, limit]), (waitingMessages, []), (newestMessage, [last]),
            (newestJournal, [last]),
        ]
    }
}
