internal import TollgateCore

extension Reports {
    /// Sums sorted into the pieces of a range and what is kept apart.
    struct Slots {
        /// The values of the dimensions, then the currency.
        typealias Words = [String]

        let pieces: [ClosedRange<Day>]
        /// All combinations of words, in order; a slot is the number of one of them.
        let words: [Words]
        private let dimensions: [Dimension]
        private let hasCurrency: Bool
        /// By piece, then slot; what is before the first piece comes first.
        private let entries: [Entry]
        /// Which of them are of a piece and slot, in the same order.
        private let cells: [Cell]
        /// Where the cells of each piece begin, from the one before the first; and where all end.
        private let begins: [Int]

        private struct Cell {
            let slot: Int
            let entries: Range<Int>
        }

        init(
            _ request: Request,
            _ material: Material,
            currency hasCurrency: Bool = true,
            where isWanted: (EntryKey) -> Bool = { _ in true }
        ) {
            let pieces = request.by.pieces(from: request.from, to: request.to)
            let dimensions = request.dimensions
            var found = Found(dimensions, hasCurrency)
            for entry in material.opening where isWanted(entry.key) { found.add(entry, to: -1) }
            var (day, piece) = (request.from, pieces.isEmpty ? nil : Optional(0))
            for entry in material.within where isWanted(entry.key) {
                // Most follow one of the same day.
                if entry.key.day != day {
                    day = entry.key.day
                    piece = Self.piece(of: day, in: pieces)
                }
                if let piece { found.add(entry, to: piece) }
            }
            self.pieces = pieces
            self.dimensions = dimensions
            self.hasCurrency = hasCurrency
            (words, entries, cells, begins) = found.sorted(pieces: pieces.count)
        }

        /// For tables that have a line for each piece and each combination, also where nothing
        /// happened.
        ///
        /// - Throws: where they would be more than anybody reads.
        func requireReadable() throws(TooManyLines) {
            guard pieces.count * max(1, words.count) <= TooManyLines.most else {
                throw TooManyLines()
            }
        }

        private static func piece(of day: Day, in pieces: [ClosedRange<Day>]) -> Int? {
            var low = 0
            var high = pieces.count
            while low < high {
                let middle = (low + high) / 2
                if pieces[middle].upperBound < day { low = middle + 1 } else { high = middle }
            }
            return low < pieces.count && pieces[low].contains(day) ? low : nil
        }

        func entries(_ slot: Int, _ piece: Int) -> ArraySlice<Entry> {
            cell(slot, piece).map { entries[$0.entries] } ?? []
        }

        func has(_ slot: Int, _ piece: Int) -> Bool { cell(slot, piece) != nil }

        /// What there is of a piece, in the order of the slots.
        func entries(of piece: Int) -> some Sequence<(slot: Int, entries: ArraySlice<Entry>)> {
            cells[begins[piece + 1]..<begins[piece + 2]].lazy.map {
                ($0.slot, entries[$0.entries])
            }
        }

        private func cell(_ slot: Int, _ piece: Int) -> Cell? {
            var (low, high) = (begins[piece + 1], begins[piece + 2])
            while low < high {
                let middle = (low + high) / 2
                if cells[middle].slot < slot { low = middle + 1 } else { high = middle }
            }
            return low < begins[piece + 2] && cells[low].slot == slot ? cells[low] : nil
        }

        /// The slot of words, if there is anything of them.
        func slot(of words: Words) -> Int? {
            self.words.firstIndex(of: words)
        }

        /// The columns of the words.
        var columns: [Table.Column] {
            dimensions.map { Table.Column($0.rawValue, $0.title, .text) }
                + (hasCurrency ? [Table.Column("currency", "Currency", .text)] : [])
        }

        func cells(_ slot: Int) -> [Table.Value] { words[slot].map { .text($0) } }

        /// Entries as they come in, each with the piece and the words that it is of.
        private struct Found {
            /// Words that are not kept apart are empty.
            struct Name: Hashable {
                var store = ""
                var product = ""
                var country = ""
                var offer = ""
                var app = ""
                var currency = ""

                func word(_ dimension: Dimension) -> String {
                    switch dimension {
                    case .store: store
                    case .app: app
                    case .product: product
                    case .country: country
                    case .offer: offer.isEmpty ? "standard" : offer
                    }
                }
            }

            private let dimensions: [Dimension]
            private let hasCurrency: Bool
            private var numbers: [Name: Int] = [:]
            private var names: [Name] = []
            private var places: [(piece: Int, name: Int)] = []
            private var entries: [Entry] = []

            init(_ dimensions: [Dimension], _ hasCurrency: Bool) {
                self.dimensions = dimensions
                self.hasCurrency = hasCurrency
            }

            mutating func add(_ entry: Entry, to piece: Int) {
                var name = Name()
                for dimension in dimensions {
                    switch dimension {
                    case .store: name.store = entry.key.store
                    case .app: name.app = entry.key.app
                    case .product: name.product = entry.key.product
                    case .country: name.country = entry.key.country
                    case .offer: name.offer = entry.key.offer
                    }
                }
                if hasCurrency { name.currency = entry.key.currency }
                let number: Int
                if let known = numbers[name] {
                    number = known
                } else {
                    number = names.count
                    numbers[name] = number
                    names.append(name)
                }
                places.append((piece, number))
                entries.append(entry)
            }

            /// The words in order, and the entries in the order of pieces and words.
            func sorted(
                pieces: Int
            ) -> (words: [Words], entries: [Entry], cells: [Cell], begins: [Int]) {
                let words = names.map { name in
                    dimensions.map { name.word($0) } + (hasCurrency ? [name.currency] : [])
                }
                let order = words.indices.sorted { words[$0].lexicographicallyPrecedes(words[$1]) }
                var ranks = [Int](repeating: 0, count: order.count)
                for (rank, name) in order.enumerated() { ranks[name] = rank }
                // By slot first, then by piece; what is equal stays in order.
                let bySlot = Self.counted(Array(places.indices), into: order.count) {
                    ranks[places[$0].name]
                }
                let sequence = Self.counted(bySlot, into: pieces + 1) { places[$0].piece + 1 }
                var cells: [Cell] = []
                var begins = [0]
                var begin = 0
                while begin < sequence.count {
                    let place = places[sequence[begin]]
                    var end = begin + 1
                    while end < sequence.count, places[sequence[end]] == place { end += 1 }
                    while begins.count < place.piece + 2 { begins.append(cells.count) }
                    cells.append(Cell(slot: ranks[place.name], entries: begin..<end))
                    begin = end
                }
                while begins.count < pieces + 2 { begins.append(cells.count) }
                return (order.map { words[$0] }, sequence.map { entries[$0] }, cells, begins)
            }

            /// The elements in the order of their keys, which are below `count`.
            private static func counted(
                _ elements: [Int],
                into count: Int,
                by key: (Int) -> Int
            ) -> [Int] {
                var places = [Int](repeating: 0, count: count + 1)
                for element in elements { places[key(element) + 1] += 1 }
                for place in places.indices.dropFirst() { places[place] += places[place - 1] }
                var sorted = [Int](repeating: 0, count: elements.count)
                for element in elements {
                    sorted[places[key(element)]] = element
                    places[key(element)] += 1
                }
                return sorted
            }
        }
    }
}

extension Collection where Element == Reports.Entry {
    func sum(_ measure: Reports.Measure) -> Reports.Sum {
        var sum = Reports.Sum()
        for entry in self where entry.key.measure == measure { sum += entry.sum }
        return sum
    }

    func items(_ measure: Reports.Measure) -> Int64 { sum(measure).items }

    /// Milliunits.
    func amount(_ measure: Reports.Measure) -> Reports.Fraction {
        Reports.Fraction(sum(measure).amount)
    }

    /// The monthly value of movements.
    func value(_ measures: [Reports.Measure]) -> Reports.Fraction {
        var parts: [Int64: Int128] = [:]
        for entry in self where measures.contains(entry.key.measure) {
            parts[entry.key.detail, default: 0] += Int128(entry.sum.amount)
        }
        return parts.reduce(.zero) {
            $0 + Reports.Fraction($1.value, Int128(Swift.max(1, $1.key)))
        }
    }

    var active: Int64 {
        reduce(0) { Reports.Measure.movements.contains($1.key.measure) ? $0 + $1.sum.items : $0 }
    }

    /// What probably arrives of charges less refunds, in milliunits: as the store states it, else by its
    /// usual fee.
    func estimatedProceeds(_ request: Reports.Request) -> Reports.Fraction {
        // Ten thousandths of a milliunit.
        var parts: Int128 = 0
        for entry in self where Reports.Measure.money.contains(entry.key.measure) {
            guard let store = Store(rawValue: entry.key.store) else { continue }
            let (key, sum) = (entry.key, entry.sum)
            let fee = request.terms.fee(
                of: store,
                isAfterOneYear: key.detail > 0,
                in: key.currency
            )
            switch key.measure {
            // Once for a payment, however many lines it has.
            case .charge:
                parts += fee.left(of: sum.amount, payments: key.extra == 0 ? sum.items : 0)
            case .refund: parts -= fee.taken(by: sum.amount)
            // In place of the estimate of the same money.
            case .statedProceeds where key.extra == 0:
                parts += Int128(sum.amount) * 10_000 - fee.left(of: sum.units, payments: sum.items)
            case .statedProceeds:
                parts -= Int128(sum.amount) * 10_000 - fee.taken(by: sum.units)
            default: continue
            }
        }
        return Reports.Fraction(parts, 10_000)
    }
}

extension Finance.Terms.Fee {
    /// What is left of charges, in ten thousandths of a milliunit, which is 1,000 millionths.
    fileprivate func left(of amount: Int64, payments: Int64) -> Int128 {
        Int128(amount) * Int128(left) - Int128(fixed ?? 0) * Int128(payments) * 10
    }

    /// What refunds take back, in ten thousandths of a milliunit.
    fileprivate func taken(by amount: Int64) -> Int128 {
        Int128(amount) * Int128(isReturned ? left : 10_000)
    }
}

extension Reports.Table {
    /// A row: its day, what is kept apart, and its figures.
    mutating func add(_ day: Reports.Day, _ words: [Value], _ figures: [Value]) {
        var row: [Value] = []
        row.reserveCapacity(1 + words.count + figures.count)
        row.append(.day(day))
        row += words
        row += figures
        rows.append(row)
    }
}
