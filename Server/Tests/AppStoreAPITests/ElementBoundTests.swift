import Foundation
import Testing

@testable import AppStoreAPI

@Suite("Elements of hostile receipts") struct ElementBoundTests {
    /// A sequence of so many empty values, of a definite or an indefinite length.
    private static func sequence(of count: Int, isIndefinite: Bool) -> [UInt8] {
        var values: [UInt8] = []
        for _ in 0..<count { values += [0x05, 0x00] }
        guard !isIndefinite else { return [0x30, 0x80] + values + [0x00, 0x00] }
        let length = values.count
        let octets: [UInt8] = [
            UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF),
        ]
        return [0x30, 0x83] + octets + values
    }

    @Test("More elements than any receipt has end the reading", arguments: [true, false])
    func bound(_ isIndefinite: Bool) {
        for (count, isRead) in [(50_000, true), (50_001, false), (1_000_000, false)] {
            var bytes = Self.sequence(of: count, isIndefinite: isIndefinite)[...]
            let value = BERValue(&bytes)
            #expect((value?.elements != nil) == isRead, "\(count)")
            if isRead { #expect(value?.elements?.count == count) }
        }
    }

    @Test("A receipt of eight megabytes of them is refused at once")
    func receipt() throws {
        let bytes = Self.sequence(of: 3_000_000, isIndefinite: true)
        let start = ContinuousClock.now
        #expect(throws: AppStore.LocalReceipt.Unreadable.self) {
            _ = try AppStore.LocalReceipt(base64: Data(bytes).base64EncodedString())
        }
        #expect(start.duration(to: .now) < .seconds(10))
    }
}
