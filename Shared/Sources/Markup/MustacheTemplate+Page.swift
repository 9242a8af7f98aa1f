public import Mustache

extension MustacheTemplate {
    /// A page, or a part of one, whose values are escaped by `escapedForMarkup` in place of
    /// Mustache's own way, which goes by `Character`.
    ///
    /// - Throws: where the template is broken.
    public init(page bytes: [UInt8]) throws {
        Values.register
        try self.init(string: "{{% CONTENT_TYPE: MARKUP}}" + String(decoding: bytes, as: UTF8.self))
    }
}

private struct Values: MustacheContentType {
    static let register: Void = MustacheContentTypes.register(Values(), named: "MARKUP")

    func escapeText(_ text: String) -> String { text.escapedForMarkup }
}
