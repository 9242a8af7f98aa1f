/// Play Console sends a test message.
struct TestNotification: Act {
    static let path = "notifications/test"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        store.announce(.test, at: now)
        return [:]
    }
}

/// A notification about a purchase to which nothing happened, of any type.
struct TellAnything: Act {
    static let path = "purchases/*/tell"

    var type: Int

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        if let purchase = store.products[subject] {
            store.announce(
                .oneTime(
                    isPurchased: type == 1,
                    token: subject,
                    product: purchase.lines[0].productID
                ),
                at: now
            )
        } else {
            let subscription = try store.subscription(subject)
            store.announce(
                .subscription(
                    type: type,
                    token: subject,
                    product: subscription.items.first?.productID
                ),
                at: now
            )
        }
        return [:]
    }
}

/// Any bytes on the topic: what no Google Play sends.
struct PublishRaw: Act {
    static let path = "notifications/publish"

    /// The message's data, before it is encoded.
    var data: String

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        store.announce(.raw(data), at: now)
        return [:]
    }
}
