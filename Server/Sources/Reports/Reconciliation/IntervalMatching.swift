/// Gives each demand a place on one of the days that it accepts, as many as can be.
///
/// Of the demands that a day suits, the one that can wait least is served first. For intervals on a
/// line no other choice serves more, as long as each demand wants one unit; of those that want
/// several, two small ones may be left where one large one was served.
package enum IntervalMatching {
    /// Something that wants `count` units on a day from `first` to `last`.
    package struct Demand {
        package var first: Finance.Day
        package var last: Finance.Day
        package var count: Int64

        package init(first: Finance.Day, last: Finance.Day, count: Int64) {
            (self.first, self.last, self.count) = (first, last, count)
        }
    }

    /// - Parameters:
    ///   - demands: in any order.
    ///   - supplies: what there is, by the days that it covers; those of one report do not overlap.
    /// - Returns: for each demand the supply that serves it.
    package static func serve(_ demands: [Demand], from supplies: [Demand]) -> [Int?] {
        var served = [Int?](repeating: nil, count: demands.count)
        let coming = demands.indices.sorted {
            (demands[$0].first, demands[$0].last, $0) < (demands[$1].first, demands[$1].last, $1)
        }
        let order = supplies.indices.sorted {
            (supplies[$0].last, supplies[$0].first, $0) < (
                supplies[$1].last, supplies[$1].first, $1
            )
        }
        var next = 0
        // Those that have come and not been served, who can wait least first.
        var waiting: [Int] = []
        for supply in order {
            while next < coming.count, demands[coming[next]].first <= supplies[supply].last {
                insert(coming[next], into: &waiting, demands)
                next += 1
            }
            let late = waiting.firstIndex { demands[$0].last >= supplies[supply].first }
            waiting.removeFirst(late ?? waiting.count)
            var left = supplies[supply].count
            var passed: [Int] = []
            var index = 0
            while index < waiting.count, left > 0 {
                let demand = waiting[index]
                index += 1
                guard demands[demand].count <= left else {
                    passed.append(demand)
                    continue
                }
                left -= demands[demand].count
                served[demand] = supply
            }
            waiting.replaceSubrange(..<index, with: passed)
        }
        return served
    }

    private static func insert(_ demand: Int, into waiting: inout [Int], _ demands: [Demand]) {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            let other = waiting[middle]
            if (demands[other].last, other) < (demands[demand].last, demand) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        waiting.insert(demand, at: low)
    }
}
