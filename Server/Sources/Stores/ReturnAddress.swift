internal import TollgateAPI

/// The addresses to which a store's pages may lead back.
///
/// They lie on this server only, or anybody could send our buyers anywhere.
public struct ReturnAddress: Sendable {
    /// Where people's browsers reach this server.
    let publicURL: String

    public init(publicURL: String) {
        self.publicURL = publicURL
    }

    /// The address that a caller asks for, or the usual one.
    ///
    /// - Parameters:
    ///   - path: the path of the usual one.
    ///   - param: the parameter with which the caller asks.
    /// - Throws: a refusal 422 `redirect_forbidden`.
    public func address(_ asked: String?, or path: String, param: String) throws -> String {
        guard let asked else { return publicURL + path }
        let isPlain = asked.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !"\\?#{}\"<>".utf8.contains(byte)
        }
        guard isPlain, asked.hasPrefix(publicURL + "/") else {
            throw Refusal(
                422,
                "redirect_forbidden",
                "\(param) must be a page of \(publicURL).",
                param: param
            )
        }
        return asked
    }
}
