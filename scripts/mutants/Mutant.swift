import Foundation

/// What the places of a module call instead of their operators: `chosen` is changed, all others
/// do what they did.
///
/// With TOLLGATE_MUTANT_TRACE, a file, each place notes in its byte that it was reached (1), and
/// that the change could have made a difference there (2).
public enum Mutant_MODULE {
    private static let chosen: Int = number("TOLLGATE_MUTANT") ?? -1

    private nonisolated(unsafe) static let trace: UnsafeMutablePointer<UInt8>? = {
        guard let path = getenv("TOLLGATE_MUTANT_TRACE") else { return nil }
        let descriptor = open(path, O_RDWR)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        return memory?.assumingMemoryBound(to: UInt8.self)
    }()

    private static func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    @inline(__always)
    private static func isChosen(_ id: Int, differs: @autoclosure () -> Bool) -> Bool {
        if let trace { trace[id] |= differs() ? 2 : 1 }
        return id == chosen
    }

    public static func on(_ id: Int) -> Bool { isChosen(id, differs: true) }

    public static func flag(_ id: Int, _ value: Bool) -> Bool {
        isChosen(id, differs: true) ? !value : value
    }

    public static func not(_ id: Int, _ value: Bool) -> Bool {
        isChosen(id, differs: true) ? value : !value
    }

    public static func condition(_ id: Int, _ value: Bool) -> Bool {
        isChosen(id, differs: !value) ? true : value
    }

    public static func less<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: left == right) ? left <= right : left < right
    }

    public static func lessOrEqual<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: left == right) ? left < right : left <= right
    }

    public static func greater<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: left == right) ? left >= right : left > right
    }

    public static func greaterOrEqual<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: left == right) ? left > right : left >= right
    }

    public static func precedes<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: left != right) ? left > right : left < right
    }

    public static func equal<T: Equatable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: true) ? left != right : left == right
    }

    public static func notEqual<T: Equatable>(_ id: Int, _ left: T, _ right: T) -> Bool {
        isChosen(id, differs: true) ? left == right : left != right
    }

    public static func and(
        _ id: Int,
        _ left: @autoclosure () -> Bool,
        _ right: @autoclosure () -> Bool
    ) -> Bool {
        // What comes after a `false` on the left may not be asked for.
        let isLeft = left()
        if isChosen(id, differs: !isLeft || !right()) { return isLeft || right() }
        return isLeft && right()
    }

    public static func or(
        _ id: Int,
        _ left: @autoclosure () -> Bool,
        _ right: @autoclosure () -> Bool
    ) -> Bool {
        let isLeft = left()
        if isChosen(id, differs: isLeft || right()) { return isLeft && right() }
        return isLeft || right()
    }

    public static func min<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> T {
        isChosen(id, differs: left != right) ? Swift.max(left, right) : Swift.min(left, right)
    }

    public static func max<T: Comparable>(_ id: Int, _ left: T, _ right: T) -> T {
        isChosen(id, differs: left != right) ? Swift.min(left, right) : Swift.max(left, right)
    }

    public static func plus<T: AdditiveArithmetic>(_ id: Int, _ left: T, _ right: T) -> T {
        isChosen(id, differs: right != .zero) ? left - right : left + right
    }

    public static func minus<T: AdditiveArithmetic>(_ id: Int, _ left: T, _ right: T) -> T {
        isChosen(id, differs: right != .zero) ? left + right : left - right
    }

    public static func add<T: AdditiveArithmetic>(_ id: Int, _ left: inout T, _ right: T) {
        if isChosen(id, differs: right != .zero) { left -= right } else { left += right }
    }

    public static func subtract<T: AdditiveArithmetic>(_ id: Int, _ left: inout T, _ right: T) {
        if isChosen(id, differs: right != .zero) { left += right } else { left -= right }
    }

    // Of what is strung together, the second part is left out.

    public static func plus<T: RangeReplaceableCollection>(_ id: Int, _ left: T, _ right: T) -> T {
        isChosen(id, differs: !right.isEmpty) ? left : left + right
    }

    public static func add<T: RangeReplaceableCollection>(_ id: Int, _ left: inout T, _ right: T) {
        if !isChosen(id, differs: !right.isEmpty) { left += right }
    }

    /// `(a...b).contains(x)`, which becomes `(a..<b).contains(x)`.
    public static func contains<T: Comparable>(
        _ id: Int,
        _ range: ClosedRange<T>,
        _ value: T
    ) -> Bool {
        let isLast = value == range.upperBound
        return isChosen(id, differs: isLast) && isLast ? false : range.contains(value)
    }

    public static func first<C: BidirectionalCollection>(
        _ id: Int,
        _ list: C,
        where isMeant: (C.Element) throws -> Bool
    ) rethrows -> C.Element? {
        isChosen(id, differs: true)
            ? try list.last(where: isMeant) : try list.first(where: isMeant)
    }

    public static func firstIndex<C: BidirectionalCollection>(
        _ id: Int,
        _ list: C,
        where isMeant: (C.Element) throws -> Bool
    ) rethrows -> C.Index? {
        isChosen(id, differs: true)
            ? try list.lastIndex(where: isMeant) : try list.firstIndex(where: isMeant)
    }

    public static func last<C: BidirectionalCollection>(
        _ id: Int,
        _ list: C,
        where isMeant: (C.Element) throws -> Bool
    ) rethrows -> C.Element? {
        isChosen(id, differs: true)
            ? try list.first(where: isMeant) : try list.last(where: isMeant)
    }

    public static func lastIndex<C: BidirectionalCollection>(
        _ id: Int,
        _ list: C,
        where isMeant: (C.Element) throws -> Bool
    ) rethrows -> C.Index? {
        isChosen(id, differs: true)
            ? try list.firstIndex(where: isMeant) : try list.lastIndex(where: isMeant)
    }

    public static func min<S: Sequence>(
        _ id: Int,
        _ list: S,
        by precedes: (S.Element, S.Element) throws -> Bool
    ) rethrows -> S.Element? {
        isChosen(id, differs: true) ? try list.max(by: precedes) : try list.min(by: precedes)
    }

    public static func max<S: Sequence>(
        _ id: Int,
        _ list: S,
        by precedes: (S.Element, S.Element) throws -> Bool
    ) rethrows -> S.Element? {
        isChosen(id, differs: true) ? try list.min(by: precedes) : try list.max(by: precedes)
    }
}
