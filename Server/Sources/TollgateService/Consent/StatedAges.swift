internal import TollgateAPI

/// What was said about a customer's age, and which of it counts.
///
/// Apple tells what a parent or guardian declared, or what was checked, from the customer's own word. The
/// own word may say more within that range. It does not lead out of it.
struct StatedAges {
    typealias Statement = API.Consents.AgeStatement

    /// The newest by the customer's own word.
    private var own: Statement?
    /// The newest that others declared or checked.
    private var declared: Statement?

    mutating func add(_ statement: Statement) {
        if statement.isOwnWord { own = statement } else { declared = statement }
    }

    /// The newest statement of the same kind.
    func newest(like statement: Statement) -> Statement? { statement.isOwnWord ? own : declared }

    /// The statement that counts; `nil`: nothing was stated.
    var counting: Statement? {
        guard let own, let declared else { return own ?? declared }
        return Self.overlap(own, declared) ?? declared
    }

    /// What others declared, if `statement` is the customer's own word and leads out of it.
    func contradicted(by statement: Statement) -> Statement? {
        guard statement.isOwnWord, let declared, Self.overlap(statement, declared) == nil else {
            return nil
        }
        return declared
    }

    private static let year: API.Milliseconds = 31_556_952_000

    /// What both say together; `nil` if they contradict each other.
    private static func overlap(_ own: Statement, _ declared: Statement) -> Statement? {
        let (said, declaredAt) = (own.statedAt ?? 0, declared.statedAt ?? 0)
        // People grow older: who was younger than 16 two years ago may be 17 now. Whole years only: else
        // a declared range would end at once. A birthday counts when the range is declared again.
        let years = Int(abs(said - declaredAt) / year)
        let ownEnd = own.below.map { min(121, said < declaredAt ? $0 + years : $0) }
        let declaredEnd = declared.below.map { min(121, said < declaredAt ? $0 : $0 + years) }
        let atLeast = max(own.atLeast, declared.atLeast)
        let below = [ownEnd, declaredEnd].compactMap(\.self).min()
        guard below.map({ atLeast < $0 }) ?? true else { return nil }
        let isDeclared = atLeast == declared.atLeast && below == declaredEnd
        return Statement(
            atLeast: atLeast,
            below: below,
            declaration: isDeclared ? declared.declaration : own.declaration,
            statedAt: max(said, declaredAt)
        )
    }
}

extension API.Consents.AgeStatement {
    /// Whether nobody but the customer stands for it.
    var isOwnWord: Bool { declaration == nil || declaration == "self_declared" }
}
