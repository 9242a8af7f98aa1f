/// The key of a field whose name is made as the program runs, such as one with a store's name in it.
public struct NameKey: CodingKey {
    public let stringValue: String
    public var intValue: Int? { nil }

    public init(_ name: String) {
        stringValue = name
    }

    public init?(stringValue: String) {
        self.init(stringValue)
    }

    public init?(intValue: Int) {
        return nil
    }
}
