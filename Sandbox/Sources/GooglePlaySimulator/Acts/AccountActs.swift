/// Somebody signs in on a phone.
struct CreateAccount: Act {
    static let path = "accounts"

    var id: String?
    var region: String?
    /// A licence tester.
    var tester: Bool?
    var payment: Account.Payment?
    var obfuscatedAccountID: String?
    var obfuscatedProfileID: String?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let account = Account(
            id: id ?? "account_\(store.accountIDs.count + 1)",
            region: region ?? "US",
            isTester: tester ?? false,
            payment: payment ?? .approves,
            identifiers: Identifiers(
                accountID: obfuscatedAccountID,
                profileID: obfuscatedProfileID
            )
        )
        guard store.accounts[account.id] == nil else {
            throw Refusal.notPossible("There is an account \(account.id) already.")
        }
        store.put(account)
        return Summary.of(account)
    }
}

/// A payment method that fails or works again, another phone's region, another name.
struct ChangeAccount: Act {
    static let path = "accounts/*"

    var region: String?
    var tester: Bool?
    var payment: Account.Payment?
    var obfuscatedAccountID: String?
    var obfuscatedProfileID: String?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        var account = try store.account(subject)
        if let region { account.region = region }
        if let tester { account.isTester = tester }
        if let payment { account.payment = payment }
        if let obfuscatedAccountID { account.identifiers.accountID = obfuscatedAccountID }
        if let obfuscatedProfileID { account.identifiers.profileID = obfuscatedProfileID }
        store.put(account)
        if account.pays { try recover(account, in: &store, at: now) }
        return Summary.of(account)
    }

    /// Charges declined payments again.
    private func recover(
        _ account: Account,
        in store: inout PlayStore,
        at now: Int64
    ) throws {
        let circumstances = try store.circumstances(of: account.id, at: now)
        for token in store.subscriptions.keys.sorted() {
            guard var subscription = store.subscriptions[token],
                subscription.account == account.id, subscription.isInDecline
            else { continue }
            let effects = subscription.recover(circumstances)
            store.put(subscription, effects, at: now)
        }
    }
}
