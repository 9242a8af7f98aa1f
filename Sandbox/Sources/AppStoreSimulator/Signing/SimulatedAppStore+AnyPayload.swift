public import Foundation

extension SimulatedAppStore {
    /// Signs any payload as the store signs its own: what a reader does with genuine words that it
    /// does not understand.
    ///
    /// - Parameter json: the payload's exact bytes.
    public func sign(anyPayload json: Data) throws -> String {
        try signer.sign(bytes: json)
    }
}
