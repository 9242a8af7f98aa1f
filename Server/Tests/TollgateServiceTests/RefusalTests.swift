import Storage
import Stores
import Testing
import TollgateAPI

@Suite("What a request is told where something failed here")
struct RefusalTests {
    // An older server beside one that was updated fails with `schema`: its stores must send again.
    @Test(
        "What may succeed at another time or server is 503",
        arguments: [StorageError.Kind.unavailable, .closed, .schema, .contention]
    )
    func again(_ kind: StorageError.Kind) {
        #expect(Refusal(telling: StorageError(kind, "no")).status == 503)
    }

    @Test("A defect of ours is 500, and its words stay here")
    func defect() {
        let refusal = Refusal(telling: StorageError(.other, "secret"))
        #expect(refusal.status == 500 && !refusal.error.message.contains("secret"))
    }
}
