import AppStoreConnector
import Foundation
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import SecondOpinion

/// Histories made by hand, and the verdict on each: found out by altering the server's answer.
struct StoryTests {
    @Test(arguments: Story.all)
    func theVerdictIsWhatTheDocumentsSay(_ story: Story) async throws {
        for (day, verdict) in story.expected.sorted(by: { $0.key < $1.key }) {
            try await Self.judge(story, at: day, verdict, on: .sqlite)
        }
    }

    /// One story of each kind on the other database.
    @Test(
        arguments: [0, 4, 9].map { Story.all[$0] } + Story.all.suffix(1)
    )
    func onPostgreSQLToo(_ story: Story) async throws {
        for (day, verdict) in story.expected.sorted(by: { $0.key < $1.key }) {
            try await Self.judge(story, at: day, verdict, on: .postgres)
        }
    }

    /// What staff decided of a purchase holds for the one that continues it, whatever token that bears.
    @Test func whatContinuesAnAssignedPurchaseLocksNobodyOut() async throws {
        let counter = try await Counter()
        let jenny = try await counter.customer("jenny")
        let anna = try await counter.customer("anna")
        let words: [Word] = [
            .notice("SUBSCRIBED", signed: 0, Paid(), Terms(), status: 1),
            .assigns("anna", original: "1"),
            .notice(
                "SUBSCRIBED",
                signed: 10,
                Paid(id: "2", original: "2", from: 10, to: 40, previous: "1"),
                Terms(renewalDate: 40),
                status: 1
            ),
        ]
        for (number, word) in words.enumerated() { try await counter.hear(word, number) }
        counter.set(.day(20))
        #expect(try await counter.active(anna, at: .day(20)) == ["pro"])
        #expect(try await counter.active(jenny, at: .day(20)).isEmpty)
        let report = try await counter.check(at: .day(20)).run()
        #expect(report.findings.isEmpty, "\(report.findings.map(\.opinion))")
        await counter.driver.close()
    }

    private static func judge(
        _ story: Story,
        at day: Double,
        _ verdict: Verdict,
        on backend: Backend
    ) async throws {
        let counter = try await Counter(on: backend) { $0.ownership = story.policy }
        let jenny = try await counter.customer("jenny")
        try await counter.customer("anna")
        let zoe = try await counter.customer("zoe")
        var reached = 0.0
        for (number, word) in story.words.enumerated() {
            // What bears no time of its own is said when the story has come there.
            reached = word.time ?? reached
            if reached <= day { try await counter.hear(word, number) }
        }
        // Somebody who certainly has everything, by a purchase of her own.
        try await counter.hear(
            .notice(
                "ONE_TIME_CHARGE",
                signed: 0,
                Paid(
                    product: "lifetime",
                    id: "zoe",
                    original: "zoe",
                    user: "zoe",
                    type: "Non-Consumable"
                )
            ),
            1000
        )
        let at = Instant.day(day)
        counter.set(at)
        func kinds() async throws -> [AccessFinding.Kind] {
            let report = try await counter.check(at: at).run()
            let one = try await counter.check(at: at).judge(jenny, in: .sandbox).findings
            let all = report.findings.filter { $0.customer == jenny }
            #expect(Set(all).isSuperset(of: one), "checking one is as good as checking all")
            for finding in all {
                #expect(finding.environment == .sandbox && finding.since <= at)
                #expect(!finding.opinion.isEmpty && !finding.answer.isEmpty)
            }
            return all.filter { $0.lookupKey == story.lookupKey }.map(\.kind)
        }
        // As the server answers: exactly where it is wrong something is found.
        let has = try await counter.active(jenny, at: at).contains(story.lookupKey)
        let expected: [AccessFinding.Kind] =
            switch (verdict, has) {
            case (.yes, false): [.lockedOut]
            case (.no, true): [.letIn]
            default: []
            }
        #expect(try await kinds() == expected, "day \(day), the server says \(has)")
        // The verdict itself, which the worlds count, of what is kept as hers.
        if has || verdict != .yes {
            let said = try await counter.check(at: at).judge(jenny, in: .sandbox).verdicts
            #expect((said[story.lookupKey] == .yes) == (verdict == .yes), "day \(day)")
        }
        // Locked out behind its back, then let in.
        try await counter.plant(nil, in: jenny)
        #expect(
            try await kinds() == (verdict == .yes ? [.lockedOut] : []),
            "day \(day), locked out"
        )
        try await counter.plant(zoe, in: jenny)
        #expect(try await kinds() == (verdict == .no ? [.letIn] : []), "day \(day), let in")
        await counter.driver.close()
    }
}

extension Word {
    /// The day on which it is said, where it bears one: what comes later is not told yet.
    fileprivate var time: Double? {
        switch self {
        case .notice(_, _, let signed, _, _, _): signed
        case .shows(_, _, let signed, _): signed
        case .event(_, let created, _): created
        case .read(let read, _, _): read
        case .receipt(_, let asked, _): asked
        case .adopts(let day, _, _): day
        case .day(let day): day
        default: nil
        }
    }
}

extension Counter {
    /// Says a word of a story.
    func hear(_ word: Word, _ number: Int) async throws {
        let id = "00000000-0000-4000-9000-\(String(format: "%012d", number))"
        switch word {
        case .notice(let type, let subtype, let signed, let paid, let terms, let status):
            let instant = Instant.day(signed)
            set(instant)
            try await notify(
                type,
                subtype,
                at: instant,
                paid.json(signed: signed),
                terms?.json(signed: signed, of: paid),
                status: status,
                id: id
            )
        case .shows(let user, let mode, let signed, let paid):
            set(.day(signed))
            do {
                _ = try await tollgate.appStore.devices.receive(
                    API.AppStoreTransactionRequest(
                        signedTransaction: try await sign(paid.json(signed: signed)),
                        mode: API.SubmissionMode(rawValue: mode) ?? .observed
                    ),
                    from: Customer.ID(try await tollgate.directory.customer(user).id)
                )
            } catch let refusal as Refusal where refusal.status == 409 {}
        case .event(let type, let created, let thing):
            set(.day(created))
            try await event(type, at: .day(created), thing.json, id: "evt_\(number)")
        case .onAsking(let path, let thing): try shelve(path, thing.json)
        case .read(let read, let token, let text):
            set(.day(read))
            try await take(text, about: token, at: .day(read))
        case .receipt(let user, let asked, let listed):
            set(.day(asked))
            try shelve(
                "receipt",
                [
                    "status": 0, "environment": "Sandbox",
                    "receipt": [
                        "bundle_id": Self.bundleID,
                        "request_date_ms": "\(Instant.day(asked).milliseconds)",
                        "in_app": [Any](),
                    ] as [String: Any],
                    "latest_receipt_info": listed.map(\.json), "pending_renewal_info": [Any](),
                ] as [String: Any]
            )
            _ = try await tollgate.appStore.receipts.receive(
                Self.receiptData,
                from: Customer.ID(try await tollgate.directory.customer(user).id),
                mode: .restored,
                isTrusted: true
            )
        case .assigns(let user, let original):
            _ = try await tollgate.purchases.assign(
                API.PurchaseAssignment(
                    purchase: "app_store/sandbox/\(Self.bundleID)/\(original)",
                    customer: ""
                ),
                to: user
            )
        case .grants(let user, let until):
            _ = try await tollgate.grants.give(
                API.GrantRequest(
                    lookupKey: "pro",
                    until: until.map { Instant.day($0).milliseconds }
                ),
                to: user,
                idempotencyKey: "story"
            )
        case .takesFree(let user):
            _ = try await tollgate.freeSubscriptions.take(
                API.FreeSubscriptionRequest(product: "reader"),
                for: user
            )
        case .removesFree(let user):
            _ = try await tollgate.freeSubscriptions.remove("reader", of: user)
        case .adopts(let day, let ownership, let refundedPlan):
            set(.day(day))
            var catalog = tollgate.store.history.current
            (catalog.ownership, catalog.refundedPlan) = (ownership, refundedPlan)
            try await tollgate.store.adopt(catalog, at: .day(day))
        case .registers(let user, let reference):
            try await register([.reference(reference)], of: customer(user), user)
        case .day(let day): set(.day(day))
        }
    }

    /// A receipt in the form of iOS 6, which only leads to its transaction.
    private static let receiptData: String = {
        let info = Data(
            "{\n\t\"transaction-id\" = \"1\";\n\t\"bid\" = \"com.example.app\";\n}".utf8
        )
        let text = """
            {
            \t"signature" = "AA==";
            \t"purchase-info" = "\(info.base64EncodedString())";
            \t"environment" = "Sandbox";
            \t"pod" = "100";
            \t"signing-status" = "0";
            }
            """
        return Data(text.utf8).base64EncodedString()
    }()
}
