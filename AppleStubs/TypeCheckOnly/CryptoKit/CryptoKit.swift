// Stand-in for CryptoKit: declarations only, never run.
import Foundation

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
}
public struct SHA256 {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation: D) throws {}
        }
        public struct PublicKey: Sendable {
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
            public func isValidSignature<D: DataProtocol>(
                _ signature: ECDSASignature,
                for data: D
            ) -> Bool { false }
        }
    }
}
