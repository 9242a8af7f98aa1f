internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Who does something, for the audit log.
public struct Actor: Hashable, Sendable {
    /// A name of staff, or `cli:` and the name of who runs a command.
    public var name: String
    public var role: String
    /// Names the request in the server's log.
    public var request: String

    public init(name: String, role: String, request: String) {
        self.name = name
        self.role = role
        self.request = request
    }

    /// Somebody at the dashboard.
    public init(_ visit: StaffVisit, request: String) {
        self.init(name: visit.member.name, role: visit.member.role.rawValue, request: request)
    }
}

/// What is about to be done, for the audit log.
public struct Deed: Hashable, Sendable {
    /// `coins.adjust`, `customer.erase`.
    public var action: String
    /// `customer:cus_tg_…`, `purchase:…`, `staff:…`.
    public var subject: String
    /// What was asked for, in a line; no personal data, since the log outlives an erasure.
    public var detail: String

    public init(_ action: String, _ subject: String, _ detail: String = "") {
        self.action = action
        self.subject = subject
        self.detail = detail
    }
}

/// What people did, by whom and when.
public struct AuditLog: Sendable {
    let records: AuditStore
    let clocks: Clocks
    let logger: Logger

    /// Does something that a person asked for, and keeps who asked, when, and what came of it.
    ///
    /// The entry is on disk before the thing is done: nothing is done unseen.
    ///
    /// - Parameters:
    ///   - state: how it is, read before and after; `nil` where there is nothing.
    ///   - work: does it.
    public func audited<Result: Sendable>(
        _ deed: Deed,
        by actor: Actor,
        state: () async throws -> String? = { nil },
        _ work: () async throws -> Result
    ) async throws -> Result {
        let id = try await records.begin(
            AuditEntry(
                at: clocks.wall(),
                actor: actor.name,
                role: actor.role,
                action: deed.action,
                subject: deed.subject,
                detail: Self.line(deed.detail),
                before: try await state().map(Self.line),
                request: actor.request
            )
        )
        let result: Result
        do {
            result = try await work()
        } catch {
            let code = Refusal(telling: error).error.code.rawValue
            try? await records.finish(audit: id, after: nil, outcome: "refused: \(code)")
            throw error
        }
        // It is done, whether or not that can still be said: else it stands there as begun.
        do {
            try await records.finish(
                audit: id,
                after: try await state().map(Self.line),
                outcome: AuditEntry.done
            )
        } catch {
            logger.error(
                "the audit log could not be told that something was done",
                metadata: ["action": "\(deed.action)", "error": "\(error)"]
            )
        }
        return result
    }

    /// One line without control characters, at most 500 characters.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(500).map {
                    $0.value < 0x20 || $0.value == 0x7F ? " " : $0
                }
            )
        )
    }
}
