import Foundation
import TollgateCore
import TollgateSimulation

/// Customers who came to the demo before anybody looked; a function of its seed.
///
/// It says when each joined, in which store and country, and what became of what they bought.
struct DemoPopulation: Sendable {
    /// The stores that the demo plays.
    enum Shop {
        case appStore, googlePlay, stripe
    }

    struct Person: Sendable {
        /// What the app calls them: `emma-17`.
        var name: String
        var shop: Shop
        /// The catalog's id.
        var product: String
        /// ISO 3166-1 alpha-3.
        var storefront: String
    }

    /// What somebody does, or what is done to them.
    enum Act: Sendable {
        case join, buyCoins, cancel, refund, failBilling, recoverBilling, dispute
    }

    struct Deed: Sendable {
        /// UNIX milliseconds on the stores' clock.
        var at: Int64
        /// A place in `people`.
        var person: Int
        var act: Act
    }

    private(set) var people: [Person] = []
    /// In their order.
    private(set) var deeds: [Deed] = []

    private static let day: Int64 = 86_400_000
    /// A month of the calendar, on the average.
    static let month: Int64 = 2_629_800_000

    private static let names = [
        "emma", "noah", "mia", "liam", "lea", "ben", "yuki", "haruto", "sakura", "ren", "clara",
        "hugo", "ines", "louis", "olivia", "jack", "amelia", "oscar", "sofia", "mateo", "lucia",
        "anna", "felix", "nora", "emil", "ida", "leo", "maja", "adam", "zoe",
    ]
    private static let storefronts = ["USA", "USA", "USA", "DEU", "JPN", "GBR", "FRA", "CAN"]

    /// - Parameters:
    ///   - start: when the first may join, UNIX milliseconds.
    ///   - end: after which nothing happens any more.
    init(customers: Int, from start: Int64, until end: Int64, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for number in 0..<customers {
            let shop: Shop =
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<10: .appStore
                case 10..<15: .googlePlay
                default: .stripe
                }
            let product =
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<13: "pro_monthly"
                case 13..<17: "pro_yearly"
                case 17: "lifetime"
                default: "coins_100"
                }
            people.append(
                Person(
                    name:
                        "\(Self.names[Int(random.next() % UInt64(Self.names.count))])-\(number + 1)",
                    shop: shop,
                    product: product,
                    storefront: Self.storefronts[
                        Int(random.next() % UInt64(Self.storefronts.count))
                    ]
                )
            )
            // The app grows: more came lately than at first.
            let share = Double.random(in: 0..<1, using: &random).squareRoot()
            let joined = start + Int64(Double(end - start) * share) / 1000 * 1000
            live(number, from: joined, using: &random)
        }
        deeds.removeAll { $0.at >= end }
        deeds.sort { ($0.at, $0.person) < ($1.at, $1.person) }
    }

    /// What becomes of somebody after they joined.
    private mutating func live(
        _ person: Int,
        from joined: Int64,
        using random: inout SplitMix64
    ) {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func add(_ act: Act, after time: Int64) {
            deeds.append(Deed(at: joined + time, person: person, act: act))
        }
        add(.join, after: 0)
        if chance(4) {
            add(.refund, after: 3 * Self.day)
            return
        }
        switch people[person].shop {
        case .stripe: if chance(3) { add(.dispute, after: 9 * Self.day) }
        case .appStore, .googlePlay: break
        }
        if chance(30) {
            add(.buyCoins, after: Int64.random(in: 5...90, using: &random) * Self.day)
        }
        guard people[person].product == "pro_monthly" || people[person].product == "pro_yearly"
        else { return }
        // Each month one in eleven turns the renewal off, and one in thirty has a card that fails.
        for number in 1...24 {
            let time = Int64(number) * Self.month - 5 * Self.day
            if chance(9) {
                add(.cancel, after: time)
                return
            }
            if chance(3) {
                add(.failBilling, after: time)
                guard chance(60) else { return }
                add(.recoverBilling, after: time + 12 * Self.day)
            }
        }
    }
}
