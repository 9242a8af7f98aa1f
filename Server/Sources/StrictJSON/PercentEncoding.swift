internal import Foundation

extension String {
    /// As part of an address or a form: all but RFC 3986's unreserved characters is encoded.
    package var percentEncoded: String {
        addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

private let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)
