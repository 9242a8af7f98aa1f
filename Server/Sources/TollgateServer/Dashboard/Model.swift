internal import TollgateCore

/// What a template is filled with.
///
/// Absent, not `nil`: a template that finds nothing looks into what is around.
typealias Model = [String: Any]

/// A cell of a table.
struct Cell {
    var text: String
    var href: String?
    /// A second, quieter line.
    var note: String?
    /// Shown as a badge of this kind: `on`, `bad`, `warn` or `plain`.
    var badge: String?
    /// An instant for machines, where the text is one.
    var iso: String?
    var isNumber = false
    /// A sentence of the engine's, which speaks English only.
    var isEnglish = false

    init(_ text: String) {
        self.text = text
    }

    static func link(_ text: String, _ href: String, note: String? = nil) -> Cell {
        var cell = Cell(text)
        cell.href = href
        cell.note = note
        return cell
    }

    static func noted(_ text: String, _ note: String) -> Cell {
        var cell = Cell(text)
        cell.note = note
        return cell
    }

    static func number(_ text: String) -> Cell {
        var cell = Cell(text)
        cell.isNumber = true
        return cell
    }

    static func badge(_ text: String, _ kind: String) -> Cell {
        var cell = Cell(text)
        cell.badge = kind
        return cell
    }

    static func time(_ instant: Instant, _ formats: Formats) -> Cell {
        var cell = Cell(formats.moment(instant))
        cell.iso = instant.description
        return cell
    }

    static func english(_ text: String) -> Cell {
        var cell = Cell(text)
        cell.isEnglish = true
        return cell
    }
}

/// A table as the template `dash_table` takes it; on a phone each row becomes a card.
struct Table {
    /// Names it for those who do not see it.
    var caption: String
    var columns: [String]
    /// Which columns hold numbers, by place.
    var numbers: Set<Int> = []
    var rows: [[Cell]]
    /// Said instead of an empty table.
    var empty: String
    /// Where the next page begins.
    var next: String?

    var model: Model {
        var model: Model = [
            "caption": caption,
            "columns": columns.enumerated().map { index, label -> Model in
                ["heading": label, "isNumeric": numbers.contains(index)]
            },
            "hasRows": !rows.isEmpty,
            "emptyText": empty,
            "rows": rows.map { cells -> Model in
                [
                    "cells": cells.enumerated().map { index, cell -> Model in
                        [
                            "label": index < columns.count ? columns[index] : "",
                            "text": cell.text, "href": cell.href ?? false,
                            "note": cell.note ?? false, "badge": cell.badge ?? false,
                            "iso": cell.iso ?? false,
                            "isNumber": cell.isNumber || numbers.contains(index),
                            "isEnglish": cell.isEnglish,
                        ]
                    }
                ]
            },
        ]
        if let next { model["nextPage"] = next } else { model["nextPage"] = false }
        return model
    }
}
