extension Fact {
    /// A part of what it states, with its clock.
    func newest<Value>(_ value: Value) -> Newest<Value> {
        Newest(value, stated: stated, source: source)
    }
}

func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
}

func later(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return max(left, right)
}

extension String {
    var nonEmpty: String? { isEmpty ? nil : self }
}

/// Where an element is in a sorted list, or where it would go.
enum SortedPosition {
    case found(Int)
    case missing(Int)
}

extension Array {
    /// The place of the element whose `key` equals `wanted`; the list is sorted by `key`.
    func position<Key: Comparable>(
        of wanted: Key,
        by key: (Element) -> Key
    ) -> SortedPosition {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let found = key(self[middle])
            if found < wanted {
                low = middle + 1
            } else if found == wanted {
                return .found(middle)
            } else {
                high = middle
            }
        }
        return .missing(low)
    }
}
