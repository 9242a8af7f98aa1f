// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Markup
internal import Mustache
internal import TollgateCore
package import TollgateService

/// The texts of emails to customers: the built-in ones, and those of a folder in their place.
///
/// `receipt.en.txt` has the subject in its first line and the text after it. `letter.html` is around the
/// text in HTML, whose paragraphs follow from it.
public struct LetterTemplates: Sendable {
    private let texts: [String: LetterTemplate]
    private let frame: MustacheTemplate

    /// The texts without a folder.
    static let builtIn = Result { try LetterTemplates() }

    /// - Parameter folder: a folder with templates that take the place of built-in ones.
    /// - Throws: `CatalogErrors` with every mistake, its file and line.
    public init(folder: String? = nil) throws {
        let own = try folder.map { try Self.files(in: $0) } ?? [:]
        var errors: [CatalogError] = []
        var texts: [String: LetterTemplate] = [:]
        var frame: MustacheTemplate?
        for (name, builtIn) in Self.sources {
            let source = own[name] ?? LetterSource(file: name, bytes: builtIn)
            do throws(CatalogErrors) {
                if name == Self.frameName {
                    frame = try source.frame()
                } else {
                    texts[name] = try source.letter()
                }
            } catch {
                errors += error.errors
            }
        }
        guard errors.isEmpty, let frame else { throw CatalogErrors(errors) }
        (self.texts, self.frame) = (texts, frame)
    }

    private static let frameName = "letter.html"

    private typealias Source = (name: String, bytes: [UInt8])

    /// The built-in templates by the names of the files that take their place.
    private static let sources: [Source] =
        [(frameName, PackageResources.letter_html)] + receipts + failedPayments + trialEnds + lapses

    private static let receipts: [Source] = [
        ("receipt.en.txt", PackageResources.letter_receipt_en_txt),
        ("receipt.de.txt", PackageResources.letter_receipt_de_txt),
        ("receipt.es.txt", PackageResources.letter_receipt_es_txt),
        ("receipt.fr.txt", PackageResources.letter_receipt_fr_txt),
        ("receipt.ja.txt", PackageResources.letter_receipt_ja_txt),
        ("receipt.ko.txt", PackageResources.letter_receipt_ko_txt),
        ("receipt.zh-Hans.txt", PackageResources.letter_receipt_zh_txt),
    ]
    private static let failedPayments: [Source] = [
        ("payment_failed.en.txt", PackageResources.letter_payment_failed_en_txt),
        ("payment_failed.de.txt", PackageResources.letter_payment_failed_de_txt),
        ("payment_failed.es.txt", PackageResources.letter_payment_failed_es_txt),
        ("payment_failed.fr.txt", PackageResources.letter_payment_failed_fr_txt),
        ("payment_failed.ja.txt", PackageResources.letter_payment_failed_ja_txt),
        ("payment_failed.ko.txt", PackageResources.letter_payment_failed_ko_txt),
        ("payment_failed.zh-Hans.txt", PackageResources.letter_payment_failed_zh_txt),
    ]
    private static let trialEnds: [Source] = [
        ("trial_ends.en.txt", PackageResources.letter_trial_ends_en_txt),
        ("trial_ends.de.txt", PackageResources.letter_trial_ends_de_txt),
        ("trial_ends.es.txt", PackageResources.letter_trial_ends_es_txt),
        ("trial_ends.fr.txt", PackageResources.letter_trial_ends_fr_txt),
        ("trial_ends.ja.txt", PackageResources.letter_trial_ends_ja_txt),
        ("trial_ends.ko.txt", PackageResources.letter_trial_ends_ko_txt),
        ("trial_ends.zh-Hans.txt", PackageResources.letter_trial_ends_zh_txt),
    ]
    private static let lapses: [Source] = [
        ("lapsed.en.txt", PackageResources.letter_lapsed_en_txt),
        ("lapsed.de.txt", PackageResources.letter_lapsed_de_txt),
        ("lapsed.es.txt", PackageResources.letter_lapsed_es_txt),
        ("lapsed.fr.txt", PackageResources.letter_lapsed_fr_txt),
        ("lapsed.ja.txt", PackageResources.letter_lapsed_ja_txt),
        ("lapsed.ko.txt", PackageResources.letter_lapsed_ko_txt),
        ("lapsed.zh-Hans.txt", PackageResources.letter_lapsed_zh_txt),
    ]

    /// The files of a folder, by their names.
    private static func files(in folder: String) throws -> [String: LetterSource] {
        func wrong(_ file: String, _ message: String) -> CatalogError {
            CatalogError(file: file, line: 1, column: 1, message: message)
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw CatalogErrors([
                wrong(folder, "the folder of templates cannot be read; check its path and rights")
            ])
        }
        let known = sources.map(\.name)
        var files: [String: LetterSource] = [:]
        var errors: [CatalogError] = []
        for name in names.sorted() where name.hasSuffix(".txt") || name.hasSuffix(".html") {
            let path = "\(folder)/\(name)"
            guard known.contains(name) else {
                let advice = NearMiss.advice(name, among: known)
                errors.append(wrong(path, "no template has this name; \(advice)"))
                continue
            }
            guard let bytes = FileManager.default.contents(atPath: path) else {
                errors.append(wrong(path, "the file cannot be read; check its rights"))
                continue
            }
            files[name] = LetterSource(file: path, bytes: Array(bytes))
        }
        guard errors.isEmpty else { throw CatalogErrors(errors) }
        return files
    }

    /// Writes a letter; in English where nothing is known of the language.
    package func text(of content: LetterContent, in language: String) -> LetterText {
        let language = CustomerLanguage(rawValue: language) ?? .english
        let words = Words.of(language)
        let name = "\(content.letter.kind.rawValue).\(language.rawValue).txt"
        guard let template = texts[name] else {
            preconditionFailure("every kind has a template in each language, see `sources`")
        }
        let values = Self.values(content, PortalText(language))
        let subject = template.subject.render(values)
            .split(whereSeparator: \.isNewline).joined(separator: " ")
        var text = template.text.render(values).trimmingCharacters(in: .whitespacesAndNewlines)
        if let link = content.unsubscribe, !text.contains(link) {
            text += "\n\n" + words("letter_unsubscribe", ["link": link])
        }
        let html = frame.render(
            [
                "lang": language.rawValue, "subject": subject, "app": content.app,
                "paragraphs": Self.paragraphs(text).map { ["html": $0] as Model },
            ] as Model
        )
        return LetterText(subject: subject, text: text + "\n", html: html)
    }

    /// The values that a template may name; `false` where there is none.
    private static func values(_ content: LetterContent, _ text: PortalText) -> Model {
        let letter = content.letter
        return [
            "app": content.app.isEmpty ? false : content.app as Any,
            "product": letter.product,
            "amount": letter.amount.map { text.price($0, every: letter.interval) } ?? false as Any,
            "date": letter.date.map { text.day($0) } ?? false as Any,
            "time": letter.date.map { text.time($0) } ?? false as Any,
            "shop": content.shop.isEmpty ? false : content.shop as Any,
            "link": content.link, "unsubscribe": content.unsubscribe ?? false as Any,
        ]
    }

    /// The paragraphs of a text in HTML, with addresses as links.
    private static func paragraphs(_ text: String) -> [String] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.split { $0.allSatisfy(\.isWhitespace) }.map { paragraph in
            paragraph.map { line in
                line.split(separator: " ").map { word in
                    let escaped = word.escapedForMarkup
                    let isLink = word.hasPrefix("https://") || word.hasPrefix("http://")
                    return isLink ? "<a href=\"\(escaped)\">\(escaped)</a>" : escaped
                }.joined(separator: " ")
            }.joined(separator: "<br>\n")
        }
    }
}
