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
    /// An id behind the text: one press away, and copied by another.
    var id: String?
    /// Where it stands among the cells of its column; by its text where there is no number.
    var rank: Double?
    /// The currency of an amount: amounts of two currencies have no order.
    var currency: String?
    /// The value as programs read it: `9.990` for `$9.99`.
    var plain: String?
    /// The text and the note in pieces, where something in them is English on every page.
    var said: Said?
    var saidNote: Said?
    /// The text is a sentence, which needs room.
    var isLong = false

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

    /// The first eight characters of an id; a press shows all of it.
    static func short(_ id: String) -> Cell {
        var cell = Cell(String(id.prefix(8)))
        cell.id = id.count > 8 ? id : nil
        return cell
    }

    static func long(_ text: String) -> Cell {
        var cell = Cell(text)
        cell.isLong = true
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
        cell.plain = instant.description
        cell.rank = Double(instant.milliseconds)
        return cell
    }

    /// A whole number.
    static func count(_ value: Int64, _ formats: Formats) -> Cell {
        var cell = Cell.number(formats.number(value))
        cell.rank = Double(value)
        cell.plain = "\(value)"
        return cell
    }

    /// An amount in the minor units of its currency.
    static func money(_ minor: Int64, _ currency: String, _ formats: Formats) -> Cell {
        var cell = Cell.number(formats.money(minor, currency))
        cell.rank = Double(minor)
        cell.currency = currency.uppercased()
        cell.plain = formats.plain(minor, currency)
        return cell
    }

    /// The same with an id behind it.
    func with(id: String?) -> Cell {
        var cell = self
        cell.id = id.flatMap { $0.isEmpty ? nil : $0 }
        return cell
    }

    /// The same with a second line that may quote a store.
    func noting(_ note: Said?) -> Cell {
        var cell = self
        (cell.note, cell.saidNote) = (note?.text, note)
        return cell
    }

    /// Whether nothing is said.
    var isBlank: Bool { text.isEmpty || text == "–" }
}
