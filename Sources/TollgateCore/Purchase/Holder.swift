/// Whom a share of a purchase belongs to, by the name under which the facts know them.
///
/// Names other than `customer` are looked up among the aliases that customers registered; one that
/// is not registered yet holds the share until it is, so that whoever registers later attaches.
public enum Holder: Hashable, Sendable {
    case customer(Customer.ID)
    /// An `appAccountToken`, lowercase.
    case token(String)
    /// Stripe's customer id.
    case stripeCustomer(String)
    /// A `client_reference_id` of a Checkout Session: our customer id, an `app_user_id`, or a hash by
    /// which a purchase made signed out is claimed (RULES §8).
    case reference(String)
    /// An `app_user_id` that looks like such a hash: a kind of its own, so that nobody takes what was
    /// bought signed out by calling themselves as it is called.
    case appUser(String)
    /// A customer who was erased, by a hash of a name they had: 32 hexadecimal digits.
    case erased(String)
    /// Nobody: the purchase itself.
    case unclaimed(Purchase.Key)

    /// `token:7f0c…`: one line of text, unique per holder.
    public var canonical: String {
        switch self {
        case .customer(let id): "customer:\(id)"
        case .token(let token): "token:\(token)"
        case .stripeCustomer(let id): "stripe:\(id)"
        case .reference(let reference): "reference:\(reference)"
        case .appUser(let id): "app_user:\(id)"
        case .erased(let hash): "erased:\(hash)"
        case .unclaimed(let key): "unclaimed:\(key)"
        }
    }
}

extension Holder {
    /// The name of the customer with this `app_user_id`.
    public init(appUserID id: String) {
        self = Self.isClaimReference(id) ? .appUser(id) : .reference(id)
    }

    /// The name of the customer whom a store knows by this id of its own; `nil` where a store knows
    /// customers by what we tell it only.
    public static func storeCustomer(_ id: String, of store: Store) -> Holder? {
        switch store {
        case .stripe: .stripeCustomer(id)
        case .appStore, .googlePlay, .tollgate: nil
        }
    }

    /// True where `text` has the form of base64url(SHA-256(secret)): 43 letters, digits, `-` and `_`.
    public static func isClaimReference(_ text: String) -> Bool {
        text.utf8.count == 43
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// What stands before a reference of this form in facts if it is an `app_user_id`: it came by a
    /// Checkout Session that is not ours, a Payment Link's for example.
    private static let appUserMark = "tollgate-app-user:"

    /// What stands in facts in the place of a name of a customer who was erased, before its hash.
    private static let erasedMark = "tollgate-erased:"

    /// A session's `client_reference_id` as facts keep it.
    ///
    /// - Parameter isOurs: whether this server opened the session.
    public static func reference(in text: String, ofOurSession isOurs: Bool) -> String? {
        // What only we write is not taken from others.
        guard !text.hasPrefix(appUserMark), !text.hasPrefix(erasedMark) else { return nil }
        return isOurs || !isClaimReference(text) ? text : appUserMark + text
    }

    /// The text that stands for a name of a customer who was erased.
    ///
    /// - Parameter hash: of the name, as holders are hashed.
    static func erasedText(_ hash: String) -> String { erasedMark + hash }

    private static func erased(in text: String) -> Holder? {
        guard text.hasPrefix(erasedMark) else { return nil }
        return .erased(String(text.dropFirst(erasedMark.count)))
    }

    /// The name behind an `appAccountToken` as facts keep it.
    static func name(ofToken text: String) -> Holder { erased(in: text) ?? .token(text) }

    /// The name behind Stripe's customer id as facts keep it.
    static func name(ofStripeCustomer text: String) -> Holder {
        erased(in: text) ?? .stripeCustomer(text)
    }

    /// The names behind a reference as facts keep it, the most telling first.
    static func names(ofReference text: String) -> [Holder] {
        if let erased = erased(in: text) { return [erased] }
        guard text.hasPrefix(appUserMark) else { return [.reference(text)] }
        let id = String(text.dropFirst(appUserMark.count))
        // Customers who registered before there were two kinds.
        return [.appUser(id), .reference(id)]
    }
}

/// One holder under all the names by which the facts know them, the most telling first.
public typealias HolderNames = [Holder]
