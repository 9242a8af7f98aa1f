internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

extension DashboardPages {
    /// Rows of a table that are at hand at once are shown so many a page.
    static var rowsOfPage: Int { 500 }

    /// How many rows lie before the first one of this page.
    private var rowsBefore: Int {
        ask.query("at").flatMap { Int($0) }.map { max(0, min($0, 100_000_000)) } ?? 0
    }

    /// A page about one table: in the order and the part that the address asks for, or as CSV.
    ///
    /// Everything that was chosen stays in the address, so a page that is kept shows the same again.
    ///
    /// - Parameters:
    ///   - file: the name of the CSV file.
    ///   - filters: fields by which the rows were chosen.
    func list(
        _ title: String,
        section: String,
        template: String = "dash_list",
        _ table: Table,
        file: String,
        filters: [Model] = [],
        _ content: Model = [:]
    ) -> Response {
        let table = sorted(table)
        if ask.query("format") == "csv" { return Response.csv(table.csv(words), named: file) }
        var content = content
        content["table"] = placed(table).model
        content["filters"] = filters
        content["hasFilters"] = !filters.isEmpty
        content["address"] = ask.pagePath
        content["kept"] = keptFields(filters)
        if content["action"] == nil { content["action"] = false }
        return page(template, title, section: section, content)
    }

    /// The table in the order that the address asks for, with addresses for the others.
    func sorted(_ table: Table) -> Table {
        var table = table
        if let order = TableOrder(ask.query("sort"), columns: table.columns.count) {
            table.sort(by: order)
        }
        table.csvAddress = table.rows.isEmpty ? nil : ask.address(with: ["format": "csv"])
        guard table.rows.count > 1 else { return table }
        table.sortAddresses = table.columns.indices.map { index in
            // Of numbers the largest come first, and the same column again turns the order round.
            let isDown =
                table.order?.column == index
                ? table.order?.isDescending == false : table.numbers.contains(index)
            let sort = "\(isDown ? -(index + 1) : index + 1)"
            // Another order begins at its beginning, but for pages that were found by a key.
            return ask.query("before") == nil && ask.query("after") == nil
                ? ask.address(with: ["sort": sort, "at": nil]) : ask.address(with: ["sort": sort])
        }
        return table
    }

    /// The table cut to one page, with where that is.
    func placed(_ table: Table) -> Table {
        var table = table
        let before = rowsBefore
        guard ask.query("before") == nil, ask.query("after") == nil, table.next == nil else {
            let count = table.rows.count
            if count > 0 {
                table.place = words(
                    table.order == nil ? "rows_place" : "rows_place_sorted",
                    [
                        "first": formats.number(Int64(before + 1)),
                        "last": formats.number(Int64(before + count)),
                    ]
                )
            }
            table.next = table.next.map { "\($0)&at=\(before + count)" }
            if before > 0 || ask.query("before") != nil || ask.query("after") != nil {
                table.previous = ask.address(with: ["before": nil, "after": nil, "at": nil])
            }
            return table
        }
        let all = table.rows.count
        guard all > Self.rowsOfPage else { return table }
        let first = min(before, all - 1)
        let end = min(first + Self.rowsOfPage, all)
        table.rows = Array(table.rows[first..<end])
        table.place = words(
            "rows_place_of",
            [
                "first": formats.number(Int64(first + 1)), "last": formats.number(Int64(end)),
                "count": formats.number(Int64(all)),
            ]
        )
        table.next = end < all ? ask.address(with: ["at": "\(end)"]) : nil
        table.previous =
            first > 0 ? ask.address(with: ["at": "\(max(0, first - Self.rowsOfPage))"]) : nil
        return table
    }

    /// The address of what lies behind a key; `nil` where nothing does.
    func older(_ key: Int64?) -> String? {
        key.map { ask.address(with: ["before": "\($0)", "at": nil]) }
    }

    // MARK: - Filters

    /// What a form of filters keeps besides its own fields.
    func keptFields(_ filters: [Model]) -> [Model] {
        let own = Set(filters.compactMap { $0["field"] as? String })
        return ["environment", "sort", "group", "by"].compactMap { name -> Model? in
            guard !own.contains(name), let value = ask.query(name) else { return nil }
            return ["field": name, "fieldValue": value]
        }
    }

    /// A field to choose from.
    func chooser(_ field: String, _ label: String, _ options: [Model]) -> Model {
        [
            "field": field, "fieldLabel": label, "isChooser": true, "options": options,
            "fieldKind": "text", "fieldValue": "",
        ]
    }

    /// A field to write into: `text`, `date` or `number`.
    func field(_ field: String, _ label: String, kind: String, _ value: String) -> Model {
        [
            "field": field, "fieldLabel": label, "isChooser": false, "options": [Model](),
            "fieldKind": kind, "fieldValue": value,
        ]
    }

    /// The stores to choose from.
    func storeFilter(_ chosen: Store?) -> Model {
        chooser(
            "store",
            words["store"],
            [choice("", words["all_stores"], chosen == nil)]
                + Store.allCases.map { choice($0.rawValue, storeName($0), $0 == chosen) }
        )
    }

    /// The catalog's products to choose from.
    func productFilter(_ chosen: String?) -> Model {
        chooser(
            "product",
            words["product"],
            [choice("", words["all_products"], chosen == nil)]
                + tollgate.store.history.current.products.map {
                    choice($0.id, $0.name, $0.id == chosen)
                }
        )
    }

    // MARK: - Names in place of ids

    /// A product by its name; the id is behind it.
    func productCell(_ id: String) -> Cell {
        guard let product = tollgate.store.history.current.product(id: id) else {
            return Cell(id.isEmpty ? "–" : id)
        }
        return Cell(product.name).with(id: id)
    }

    /// The products that a store sold, by their names; the store's ids are behind them.
    ///
    /// - Parameter ids: the store's ids, with commas between.
    func productCell(_ ids: String, of store: Store) -> Cell {
        let names = ids.split(separator: ",").map { id in
            tollgate.store.history.current.product(StoreProduct(store, String(id)))?.name
                ?? String(id)
        }
        let text = names.joined(separator: ", ")
        guard text != ids else { return Cell(ids.isEmpty ? "–" : ids) }
        return Cell(text).with(id: ids)
    }

    /// The app's names of customers; of one who was erased, a word for that.
    func customerNames(_ customers: some Sequence<Customer.ID>) async throws
        -> [Customer.ID: String]
    {
        var names: [Customer.ID: String] = [:]
        for id in Set(customers) {
            guard let stored = try await tollgate.store.profile(id), !stored.body.isEmpty else {
                names[id] = words["erased"]
                continue
            }
            names[id] = try tollgate.customerFiles.shownName(of: stored)
        }
        return names
    }

    /// A customer by their name; the id is behind it.
    func customerCell(_ id: Customer.ID?, _ names: [Customer.ID: String]) -> Cell {
        guard let id else { return Cell("–") }
        return Cell.link(
            names[id] ?? id.rawValue,
            "/dashboard/customers/\(Ask.escaped(id.rawValue))?environment=\(environment.rawValue)"
        ).with(id: id.rawValue)
    }
}
