/// Collects problems and remembers which ids were there already.
struct CatalogReport {
    private(set) var problems: [CatalogProblem] = []
    private var seen: Set<[String]> = []

    mutating func add(at path: [CatalogProblem.Step], _ message: String) {
        problems.append(CatalogProblem(path: path, message: message))
    }

    /// An id that people put into URLs, commands and other systems.
    mutating func identifier(
        _ text: String,
        at path: [CatalogProblem.Step],
        limit: Int,
        what: String
    ) {
        if text.isEmpty {
            add(at: path, "\(what) cannot be empty")
        } else if text.utf8.count > limit {
            add(at: path, "\(what) has at most \(limit) characters; shorten it")
        } else if !text.utf8.allSatisfy(isIdentifierByte) {
            add(
                at: path,
                "\(what) consists of letters, digits, dot, hyphen and underscore; "
                    + "‘\(text)’ does not"
            )
        }
    }

    mutating func name(_ text: String, at path: [CatalogProblem.Step]) {
        if text.allSatisfy(\.isWhitespace) {
            add(at: path, "people read this name; write one")
        }
    }

    mutating func once(
        _ text: String,
        in space: String,
        at path: [CatalogProblem.Step],
        _ message: String
    ) {
        once(text, inEach: [space], at: path, message)
    }

    /// Adds one problem where a text was there already in any of several spaces.
    mutating func once(
        _ text: String,
        inEach spaces: [String],
        at path: [CatalogProblem.Step],
        _ message: String
    ) {
        let isNew = spaces.map { seen.insert([$0, text]).inserted }
        if isNew.contains(false) { add(at: path, message) }
    }
}

func isASCIIUpper(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
}

func isASCIILower(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
}

func isTeamByte(_ byte: UInt8) -> Bool {
    isASCIIUpper(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

func isIdentifierByte(_ byte: UInt8) -> Bool {
    isASCIIUpper(byte) || isASCIILower(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
}
