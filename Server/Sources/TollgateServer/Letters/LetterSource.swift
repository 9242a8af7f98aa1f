// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Markup
internal import Mustache
internal import TollgateService

/// The compiled text of one kind of letter in one language.
struct LetterTemplate: Sendable {
    var subject: MustacheTemplate
    var text: MustacheTemplate
}

/// The file of a template, and what is wrong with it.
struct LetterSource {
    var file: String
    var bytes: [UInt8]

    private static let subject = "Subject:"
    private static let values = [
        "app", "product", "amount", "date", "time", "shop", "link", "unsubscribe",
    ]
    private static let frameValues = ["lang", "subject", "app", "paragraphs", "html"]

    /// The text of a kind: the subject in the first line, then the text.
    func letter() throws(CatalogErrors) -> LetterTemplate {
        let lines = try lines()
        guard let first = lines.first, first.hasPrefix(Self.subject) else {
            throw wrong(1, 1, "the first line is the subject; write it like ‘Subject: {{product}}’")
        }
        try checkNames(lines, among: Self.values)
        let text = lines.dropFirst().joined(separator: "\n")
        let subject = first.dropFirst(Self.subject.count).trimmingCharacters(in: .whitespaces)
        guard !subject.isEmpty else { throw wrong(1, 1, "the subject is empty; write one") }
        return LetterTemplate(
            subject: try compiled("{{% CONTENT_TYPE: TEXT}}" + subject, after: 0),
            text: try compiled("{{% CONTENT_TYPE: TEXT}}" + text, after: 1)
        )
    }

    /// The frame of the text in HTML.
    func frame() throws(CatalogErrors) -> MustacheTemplate {
        let lines = try lines()
        try checkNames(lines, among: Self.frameValues)
        try checkEscaping(lines)
        let text = lines.joined(separator: "\n")
        guard text.contains("{{{html}}}") else {
            throw wrong(
                1,
                1,
                "the text is missing; add {{#paragraphs}}<p>{{{html}}}</p>{{/paragraphs}}"
            )
        }
        do {
            return try MustacheTemplate(page: Array(text.utf8))
        } catch {
            throw broken(error, after: 0)
        }
    }

    private func lines() throws(CatalogErrors) -> [String] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong(1, 1, "the file is not in UTF-8; save it as such")
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map(String.init)
    }

    /// Finds names that no letter has: Mustache would leave a gap in their place.
    private func checkNames(_ lines: [String], among known: [String]) throws(CatalogErrors) {
        var errors: [CatalogError] = []
        for (index, line) in lines.enumerated() {
            for match in line.matches(of: /\{\{\{?\s*([^a-zA-Z_\s]?)\s*([^}\s]*)/) {
                let (sign, name) = (String(match.1), String(match.2))
                let isKnown = known.contains(name)
                guard sign != "!", !(["", "#", "^", "/", "&"].contains(sign) && isKnown) else {
                    continue
                }
                let column = line.distance(from: line.startIndex, to: match.range.lowerBound) + 1
                errors.append(
                    CatalogError(
                        file: file,
                        line: index + 1,
                        column: column,
                        message:
                            "‘\(match.0)’ names nothing that a letter has; \(NearMiss.advice(name, among: known))"
                    )
                )
            }
        }
        guard errors.isEmpty else { throw CatalogErrors(errors) }
    }

    /// Finds values that would be markup: only `html` is written for HTML.
    private func checkEscaping(_ lines: [String]) throws(CatalogErrors) {
        for (index, line) in lines.enumerated() {
            for match in line.matches(of: /\{\{(?:\{|&)\s*([a-zA-Z_]+)/) where match.1 != "html" {
                throw wrong(
                    index + 1,
                    line.distance(from: line.startIndex, to: match.range.lowerBound) + 1,
                    "‘\(match.1)’ would be read as markup; write {{\(match.1)}}"
                )
            }
        }
    }

    /// - Parameter before: the number of lines before the text.
    private func compiled(
        _ text: String,
        after before: Int
    ) throws(CatalogErrors) -> MustacheTemplate {
        do {
            return try MustacheTemplate(string: text)
        } catch {
            throw broken(error, after: before)
        }
    }

    private func broken(_ error: any Error, after before: Int) -> CatalogErrors {
        let context = (error as? MustacheTemplate.ParserError)?.context
        return wrong(
            before + (context?.lineNumber ?? 1),
            context?.columnNumber ?? 1,
            "Mustache cannot read this; close every {{#section}} with {{/section}}, and end every tag with }}"
        )
    }

    private func wrong(_ line: Int, _ column: Int, _ message: String) -> CatalogErrors {
        CatalogErrors([CatalogError(file: file, line: line, column: column, message: message)])
    }
}
