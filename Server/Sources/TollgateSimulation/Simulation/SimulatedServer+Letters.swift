import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import GooglePlayConnector
import SandboxClock
import Storage
import Stores
import StripeAPI
import StripeConnector
import Synchronization
import TollgateAssembly
import TollgateCore
import TollgateService

// Messages of the stores, and what happens to them on their way.
extension SimulatedServer {
    func take(signedPayload: String) async -> Bool {
        await carry(.notification(signedPayload))
    }

    func take(event body: String, signature: String) async -> Bool {
        await carry(.event(body: body, signature: signature))
    }

    /// The way from a store to the server, and what happens on it.
    private func carry(_ letter: Letter) async -> Bool {
        if isBeforeMove { return true }
        let (fate, trouble) = (parts.fate, parts.fate.trouble)
        await attack(letter)
        if let clock = stores.withLock({ $0?.clock }),
            incidents.swallows(letter, at: clock.nowAtOnce)
        {
            return false
        }
        if fate.strikes(trouble.lost) { return false }
        if fate.strikes(trouble.late) {
            let present = stores.withLock { $0?.clock.nowAtOnce } ?? 0
            let delay =
                if case .event = letter { fate.below(240_000) } else { fate.below(864_000_000) }
            state.withLock { $0.late.append((present + 1000 + Int64(delay), letter)) }
            return false
        }
        let isTaken = await hand(letter)
        if fate.strikes(trouble.twice) { _ = await hand(letter) }
        if case .notification(let payload) = letter, fate.strikes(trouble.twin),
            let twin = Forgery.twin(of: payload)
        {
            _ = await hand(.notification(twin))
        }
        return isTaken && !fate.strikes(trouble.unanswered)
    }

    /// Somebody else writes too, and must be refused.
    private func attack(_ letter: Letter) async {
        let (fate, trouble) = (parts.fate, parts.fate.trouble)
        if fate.strikes(trouble.damaged) {
            let isTaken = await hand(Forgery.damaged(letter), isGenuine: false)
            if isTaken { object("a message with a damaged signature was taken") }
        }
        guard case .notification(let payload) = letter else { return }
        if fate.strikes(trouble.postdated), let met = try? met(),
            let words = Forgery.words(of: payload, signedAt: met.clock.nowAtOnce + 864_000_000),
            let signed = try? await met.appStore.sign(anyPayload: words)
        {
            if await hand(.notification(signed), isGenuine: false) {
                object("a message signed for a day to come was taken")
            }
        }
        if fate.strikes(trouble.forged), let met = try? met(),
            let words = Forgery.words(of: payload, signedAt: met.clock.nowAtOnce),
            let signed = try? await parts.impostor.sign(anyPayload: words)
        {
            if await hand(.notification(signed), isGenuine: false) {
                object("a message signed by an impostor was taken")
            }
        }
    }

    /// The next letter that arrives late by `instant`.
    func nextLate(by instant: Int64) -> (due: Int64, letter: Letter)? {
        state.withLock { state in
            let next = state.late.indices.min { state.late[$0].due < state.late[$1].due }
            guard let next, state.late[next].due <= instant else { return nil }
            return state.late.remove(at: next)
        }
    }

    /// Puts a letter into the server's hands; says whether it was answered 200.
    @discardableResult
    func hand(
        _ letter: Letter,
        isGenuine: Bool = true,
        isLate: Bool = false
    ) async -> Bool {
        guard !isDown, let tollgate = try? tollgate else { return false }
        if parts.bug == .seenBeforeProcessed, isGenuine,
            !planting.isNew(Forgery.name(of: letter))
        {
            return true
        }
        state.withLock { $0.counts.letters += 1 }
        do {
            switch letter {
            case .notification(let payload):
                let body = Array("{\"signedPayload\":\"\(payload)\"}".utf8)
                let believed = parts.bug == .dateUnchecked ? Int64(4_000_000_000_000) : nil
                _ = try await Self.$believedNow.withValue(believed) {
                    try await tollgate.appStore.receive(ReceivedMessage(body))
                }
            case .event(let body, let signature):
                _ = try await tollgate.stripe.receive(
                    ReceivedMessage(Array(body.utf8), .delivered(signature: signature))
                )
            case .hint(let body):
                // As pulled, without a token.
                _ = try await tollgate.googlePlay.receive(ReceivedMessage(body, .fetched))
            }
            if isGenuine { acknowledge(letter) }
            return true
        } catch {
            if isGenuine {
                if parts.bug == .clockBehindDrops, Self.isSignedInFuture(error) { return true }
                let refusal = Refusal(telling: error)
                if refusal.status < 500, !(isLate && Self.isSignedTooLongAgo(error)) {
                    object("a genuine message was refused for good: \(refusal.status), \(error)")
                }
            }
            let wasKilled = state.withLock { $0.storage?.isKilled ?? false }
            await revive()
            let believesItIsDone =
                wasKilled ? parts.bug == .acknowledgedBeforeCommit : parts.bug == .successOnFailure
            guard believesItIsDone, isGenuine, error is StorageError else { return false }
            acknowledge(letter)
            return true
        }
    }

    private static func isSignedInFuture(_ error: any Error) -> Bool {
        (error as? AppStore.VerificationError)?.rule == .signedInFuture
    }

    /// Stripe signs each attempt anew, so only what was under way for long is too old.
    private static func isSignedTooLongAgo(_ error: any Error) -> Bool {
        (error as? Stripe.WebhookSignature.Refusal)?.reason == .tooOld
    }

    private func acknowledge(_ letter: Letter) {
        let name = Forgery.name(of: letter)
        state.withLock { state in
            switch letter {
            case .notification:
                state.acknowledged.insert(RowKey("notification", ScenarioWorld.bundleID, name))
                state.notifications.insert(name)
            case .event: state.acknowledged.insert(RowKey("event", "test", name))
            case .hint:
                state.acknowledged.insert(
                    RowKey("play message", ScenarioWorld.bundleID, "message:\(name)")
                )
            }
        }
    }

    /// The journal's keys of everything that was answered 200.
    var acknowledged: Set<RowKey> { state.withLock { $0.acknowledged } }
}
