internal import Crypto
internal import Foundation
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// From where somebody signs in.
public struct SignInOrigin: Sendable {
    /// The network address; empty where none is known.
    public var address: String
    /// True if many clients may have this address, as behind a silent proxy.
    public var isOfMany: Bool
    /// The cookie of a browser in which somebody has signed in before, as it was sent.
    public var browser: String?

    public init(address: String = "", isOfMany: Bool = false, browser: String? = nil) {
        self.address = address
        self.isOfMany = isOfMany
        self.browser = browser
    }
}

/// The counters that an attempt to sign in adds to.
///
/// Strangers cannot lock a name out: they are counted by name and address. A limit of the name alone
/// holds many addresses back, and does not hold for a browser in which that person has signed in
/// before: it is counted by itself. Where many clients may have the address, its limit is wide, and
/// five guesses at one name block nobody.
struct SignInAttempts: Sendable {
    struct Counter: Sendable {
        var key: RowKey
        /// After so many failures it must wait.
        var patience: Int64
        /// Whether a success forgets all failures, and not its own attempt only.
        var isForgotten = false
    }

    /// The secret that is guessed.
    enum Kind: String {
        case password = "staff"
        /// The second factor, by who knows the password.
        case factor

        /// How many may fail for one name, from all addresses together.
        var patienceWithName: Int64 { self == .password ? 50 : 10 }
    }

    var counters: [Counter]

    /// - Parameter browser: the id of a known browser.
    init(_ kind: Kind, of name: String, _ browser: String?, _ origin: SignInOrigin) {
        let what = kind.rawValue
        if let browser {
            counters = [
                Counter(key: RowKey("\(what) browser", browser), patience: 10, isForgotten: true)
            ]
            return
        }
        let ofName = Counter(key: RowKey("\(what) name", name), patience: kind.patienceWithName)
        guard !origin.address.isEmpty, !origin.isOfMany else {
            // A client may choose to look like a proxy, so the address still counts.
            let ofMany = Counter(
                key: RowKey("\(what) address of many", origin.address),
                patience: 200
            )
            counters = [ofMany, ofName]
            return
        }
        let ofBoth = Counter(
            key: RowKey("\(what) name and address", name, origin.address),
            patience: 5,
            isForgotten: true
        )
        // The narrowest first: what one address has used up does not count against the name.
        counters = [ofBoth, ofName]
        guard kind == .password else { return }
        counters.insert(
            Counter(key: RowKey("\(what) address", origin.address), patience: 20),
            at: 0
        )
    }

    /// Attempts within a session, which somebody may have stolen.
    init(_ kind: Kind, ofSession token: String) {
        counters = [
            Counter(key: RowKey("\(kind.rawValue) session", token), patience: 5, isForgotten: true)
        ]
    }
}

/// Counts attempts to sign in, and knows the browsers in which somebody has signed in before.
struct SignInLimits: Sendable {
    let records: StaffStore
    let clocks: Clocks
    let random: RandomSource
    let sealing: SealingKeys

    /// A quarter of an hour.
    private static let wait: Int64 = 900_000
    /// How long a browser is known after somebody signed in there: half a year, in milliseconds.
    static let knownBrowserLifetime: Int64 = 180 * 86_400_000

    /// Counts an attempt before anything is compared: of many at once, no more are looked at than one
    /// after another.
    ///
    /// - Throws: a refusal 429 `too_many_attempts`.
    func count(_ attempts: SignInAttempts) async throws {
        for counter in attempts.counters {
            let count = try await records.countAttempt(
                counter.key,
                at: clocks.wall(),
                quiet: Self.wait,
                patience: counter.patience
            )
            guard count <= counter.patience else {
                throw Refusal(
                    429,
                    .authenticationError,
                    "too_many_attempts",
                    "Too many attempts; try again in a quarter of an hour."
                )
            }
        }
    }

    /// After a success.
    func forget(_ attempts: SignInAttempts) async throws {
        try await records.forgetAttempts(
            attempts.counters.filter(\.isForgotten).map(\.key),
            takingBack: attempts.counters.filter { !$0.isForgotten }.map(\.key)
        )
    }

    /// An attempt that was not looked at.
    func takeBack(_ attempts: SignInAttempts) async throws {
        try await records.forgetAttempts([], takingBack: attempts.counters.map(\.key))
    }

    // MARK: - Known browsers

    /// What a browser keeps in which `name` has signed in: `ID.EXPIRES.CODE`.
    ///
    /// It lets nobody in. It says that attempts there are counted apart from those of strangers.
    func knownBrowser(of name: String) -> String {
        let expires = clocks.wall().advanced(by: Self.knownBrowserLifetime).milliseconds
        let text = "\(random.id("", length: 24)).\(expires)"
        return "\(text).\(sealing.code(of: "\(text).\(name)", as: Self.browserPurpose))"
    }

    /// The id of the browser that shows such a cookie for `name`; `nil` for any other.
    func knownBrowser(_ origin: SignInOrigin, _ name: String) -> String? {
        guard let cookie = origin.browser, cookie.utf8.count < 200 else { return nil }
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let expires = Int64(parts[1]),
            clocks.wall().milliseconds < expires,
            sealing.isCode(
                String(parts[2]),
                of: "\(parts[0]).\(parts[1]).\(name)",
                as: Self.browserPurpose
            )
        else { return nil }
        return String(parts[0])
    }

    private static let browserPurpose = "known browsers of staff"
}

extension SealingKeys {
    /// A code that only who has the server's secret key can make, in hexadecimal digits.
    ///
    /// - Parameter purpose: a code for one purpose is worth nothing for another.
    func code(of text: String, as purpose: String) -> String {
        keys.first.map { Self.code(of: text, as: purpose, $0) } ?? ""
    }

    /// Whether `code` was made by this server, by its key of today or a former one.
    func isCode(_ code: String, of text: String, as purpose: String) -> Bool {
        keys.contains { key in
            let right = Self.code(of: text, as: purpose, key)
            return right.utf8.count == code.utf8.count
                && zip(right.utf8, code.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }

    private static func code(of text: String, as purpose: String, _ key: SymmetricKey) -> String {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            info: Data(purpose.utf8),
            outputByteCount: 32
        )
        return HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: derived).hex
    }
}
