import Testing
import TollgateCore

/// Names in a Checkout Session's `client_reference_id` (RULES §8).
@Suite("References by which Checkout Sessions name customers")
struct HolderTests {
    private static let hash = "aZ09-_" + String(repeating: "x", count: 37)

    @Test("a claim's reference has 43 letters, digits, hyphens and underscores")
    func claimReference() {
        #expect(Holder.isClaimReference(Self.hash))
        #expect(!Holder.isClaimReference(Self.hash + "x"))
        #expect(!Holder.isClaimReference(String(Self.hash.dropLast())))
        for letter in ["+", "/", "=", " ", ".", ":", "@", "[", "`", "{", "^"] {
            #expect(!Holder.isClaimReference(letter + Self.hash.dropFirst()), "\(letter)")
        }
    }

    /// By whom a subscription was bought, as a session of this reference says.
    private static func names(_ text: String, ours: Bool) -> [Holder] {
        guard let reference = Holder.reference(in: text, ofOurSession: ours) else { return [] }
        return Fact.said(.buyer(StripeBuyer(reference: reference)), on: 0, about: .stripe("sub_1"))
            .names
    }

    @Test("who is called as a claim is takes nothing that was bought signed out")
    func appUser() {
        #expect(Self.names("user_1", ours: true) == [.reference("user_1")])
        #expect(Self.names("user_1", ours: false) == [.reference("user_1")])
        #expect(Self.names(Self.hash, ours: true) == [.reference(Self.hash)])
        #expect(Self.names(Self.hash, ours: false) == [.appUser(Self.hash), .reference(Self.hash)])
    }

    @Test("what only this server writes is not taken from others")
    func marks() {
        for mark in ["tollgate-app-user:", "tollgate-erased:"] {
            for ours in [true, false] {
                #expect(Holder.reference(in: mark + "ann", ofOurSession: ours) == nil)
            }
        }
    }
}
