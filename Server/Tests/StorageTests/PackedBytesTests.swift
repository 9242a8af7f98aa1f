import Crypto
import Foundation
import Testing
import TollgateSimulation

import Storage

/// Journal rows leave out what they have in common, and come back exactly.
@Suite struct PackedBytesTests {
    static let kinds: [JournalVocabulary] = [.facts, .appStore, .stripe]

    /// Texts that repeat themselves and the vocabulary by chance.
    static func text(_ random: inout SplitMix64, _ vocabulary: JournalVocabulary) -> [UInt8] {
        let words = vocabulary.words.bytes
        var text: [UInt8] = []
        for _ in 0..<(random.next() % 60) {
            let length = Int(random.next() % 300)
            switch random.next() % 4 {
            case 0: text += random.bytes(length % 40)
            case 1:
                text += [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: length)
            case 2 where !text.isEmpty:
                let start = Int(random.next() % UInt64(text.count))
                text += text[start...].prefix(length)
            default:
                let start = Int(random.next() % UInt64(words.count))
                text += words[start...].prefix(length)
            }
        }
        return text
    }

    @Test(arguments: kinds)
    func whateverIsPackedComesBackExactly(_ vocabulary: JournalVocabulary) throws {
        var random = SplitMix64(seed: 7)
        var before = 0
        var after = 0
        for _ in 0..<2_000 {
            // What begins with the marker would be taken for packed; nothing of ours does.
            let text = [0] + Self.text(&random, vocabulary)
            let packed = PackedBytes.pack(text, vocabulary)
            #expect(packed.count <= text.count)
            #expect(try PackedBytes.unpacked(packed) == text)
            before += text.count
            after += packed.count
        }
        #expect(after < before / 2)
    }

    @Test func lengthsAtTheEdgesOfTheFormComeBackExactly() throws {
        var random = SplitMix64(seed: 8)
        for literals in [0, 14, 15, 16, 269, 270, 271, 600] {
            for repeated in [4, 18, 19, 20, 273, 274, 275, 600] {
                let new = random.bytes(literals)
                let text = [1] + random.bytes(100) + new + [UInt8](repeating: 9, count: repeated)
                let packed = PackedBytes.pack(text, .facts)
                #expect(try PackedBytes.unpacked(packed) == text)
            }
        }
    }

    @Test func whatIsTooShortTooLongOrOfNoPatternStaysAsItIs() throws {
        var random = SplitMix64(seed: 9)
        for text in [[], [UInt8](repeating: 1, count: 63), [0] + random.bytes(5_000)] {
            #expect(PackedBytes.pack(text, .stripe) == text)
        }
        let long = [UInt8](repeating: 1, count: 65_536)
        #expect(PackedBytes.pack(long, .stripe) == long)
        #expect(try PackedBytes.unpacked(long) == long)
    }

    @Test(arguments: kinds)
    func aDamagedRowIsAnErrorAndNothingWorse(_ vocabulary: JournalVocabulary) throws {
        var random = SplitMix64(seed: 10)
        for _ in 0..<2_000 {
            let text = [0] + Self.text(&random, vocabulary)
            var packed = PackedBytes.pack(text, vocabulary)
            guard packed != text else { continue }
            if random.next() % 3 == 0 {
                packed.removeLast(Int(random.next() % UInt64(packed.count - 1)))
            } else {
                for _ in 0...(random.next() % 3) {
                    let index = 1 + Int(random.next() % UInt64(packed.count - 1))
                    packed[index] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            do throws(StorageError) {
                _ = try PackedBytes.unpacked(packed)
            } catch {
                #expect(error.kind == .corrupt)
            }
        }
        #expect(throws: StorageError.self) { try PackedBytes.unpacked([PackedBytes.marker]) }
        #expect(throws: StorageError.self) { try PackedBytes.unpacked([PackedBytes.marker, 99]) }
    }

    /// Rows on disk refer into the vocabularies: a changed byte would make them unreadable.
    ///
    /// Add a vocabulary instead.
    @Test(
        arguments: [
            (1, "9a1c0152585fa4c5ba38a2c72a47a45f47ac0766c03db4da45b904ef2fdb8ee3"),
            (2, "089f185e4172b21509af5945970c5840d3aad9f06d5f82dc2a10ea7d9bf5b024"),
            (3, "65d0af17f41954f0cc219b4a881d4fa1c7cfdf1585fcdce5ae3b232b1b7b49c2"),
        ]
    )
    func noVocabularyEverChanges(_ number: Int, _ digest: String) throws {
        let words = try #require(JournalVocabulary(rawValue: UInt8(number))).words
        let hash = SHA256.hash(data: words.bytes).map { String(format: "%02x", $0) }.joined()
        #expect(hash == digest)
    }
}
