internal import Reports

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
    /// The sums below the rows.
    var totals: [[Cell]] = []
    /// The sums of groups of rows, above those of all.
    var subtotals: [[Cell]] = []
    /// Where the page before begins.
    var previous: String?
    /// Which of the rows these are: `Rows 51–100`.
    var place: String?
    /// The order of the rows, where the address asks for one.
    var order: TableOrder?
    /// The address that sorts by each column; empty: nothing sorts it.
    var sortAddresses: [String] = []
    /// The address of these rows as CSV.
    var csvAddress: String?

    /// Puts the rows into an order; rows that are equal in it keep theirs.
    mutating func sort(by order: TableOrder) {
        self.order = order
        rows = rows.enumerated().sorted { left, right in
            order.isBefore(left.element, right.element) ?? (left.offset < right.offset)
        }.map(\.element)
    }

    var model: Model {
        var model: Model = [
            "caption": caption,
            "columns": columns.enumerated().map { index, label -> Model in
                var column: Model = [
                    "heading": label, "isNumeric": numbers.contains(index), "sortAddress": false,
                    "sorted": false,
                ]
                if index < sortAddresses.count { column["sortAddress"] = sortAddresses[index] }
                if let order, order.column == index {
                    column["sorted"] = order.isDescending ? "descending" : "ascending"
                }
                return column
            },
            "isSortable": !sortAddresses.isEmpty, "hasRows": !rows.isEmpty, "emptyText": empty,
            "rows": rows.map { self.model(of: $0) }, "hasTotals": !totals.isEmpty,
            "totals": totals.map { self.model(of: $0) },
            "subtotals": subtotals.map { self.model(of: $0) }, "place": place ?? false,
            "csvAddress": csvAddress ?? false, "previousPage": previous ?? false,
            "nextPage": next ?? false,
        ]
        model["hasPages"] = place != nil || next != nil || previous != nil
        return model
    }

    private func model(of cells: [Cell]) -> Model {
        [
            "cells": cells.enumerated().map { index, cell -> Model in
                [
                    "label": index < columns.count ? columns[index] : "",
                    "text": cell.text, "href": cell.href ?? false,
                    "note": cell.note ?? false, "badge": cell.badge ?? false,
                    "iso": cell.iso ?? false, "cellID": cell.id ?? false,
                    "isNumber": cell.isNumber || numbers.contains(index),
                    "pieces": (cell.said ?? Said(cell.text)).models,
                    "notePieces": (cell.saidNote ?? Said(cell.note ?? "")).models,
                    "isLong": cell.isLong,
                ]
            }
        ]
    }

    /// Comma separated values: the same columns and rows in the same order.
    ///
    /// An id, a currency and a note have columns of their own after that of their cell.
    func csv(_ words: Words) -> String {
        let behind: [(name: String, value: (Cell) -> String?)] = [
            (words["id"], { $0.id }), (words["column_currency"], { $0.currency }),
            (words["note"], { $0.note }),
        ]
        var titles: [String] = []
        var values: [(Cell) -> String] = []
        var columnOf: [Int] = []
        for (index, title) in columns.enumerated() {
            titles.append(title)
            values.append { $0.plain ?? $0.text }
            columnOf.append(index)
            for (name, value) in behind
            where rows.contains(where: { index < $0.count && value($0[index]) != nil }) {
                titles.append("\(title) · \(name)")
                values.append { value($0) ?? "" }
                columnOf.append(index)
            }
        }
        let table = Reports.Table(
            name: "",
            title: caption,
            columns: titles.map { Reports.Table.Column($0, $0, .text) },
            rows: rows.map { cells in
                zip(columnOf, values).map { index, value in
                    .text(index < cells.count ? value(cells[index]) : "")
                }
            }
        )
        return table.csv
    }
}

/// An order of a table's rows, as addresses name it: `3` for the third column, `-3` downwards.
struct TableOrder {
    /// From 0.
    var column: Int
    var isDescending: Bool

    /// - Returns: `nil` where the table has no such column.
    init?(_ text: String?, columns: Int) {
        guard let text, let number = Int(text), number != 0, number.magnitude <= UInt(columns)
        else { return nil }
        column = Int(number.magnitude) - 1
        isDescending = number < 0
    }

    /// Whether a row stands before another; `nil` where they are equal.
    ///
    /// Empty cells stand last, either way.
    func isBefore(_ left: [Cell], _ right: [Cell]) -> Bool? {
        guard column < left.count, column < right.count else { return nil }
        let (one, other) = (left[column], right[column])
        if one.isBlank != other.isBlank { return other.isBlank }
        if let first = one.rank, let second = other.rank {
            let (currency, another) = (one.currency ?? "", other.currency ?? "")
            if currency != another { return currency < another }
            return first == second ? nil : (first < second) != isDescending
        }
        let (first, second) = (one.text.lowercased(), other.text.lowercased())
        return first == second ? nil : (first < second) != isDescending
    }
}
