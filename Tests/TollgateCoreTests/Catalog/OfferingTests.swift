import Foundation
import Testing
import TollgateCore

@Suite("Offerings and placements of the catalog")
struct OfferingTests {
    static let sound: Catalog = {
        var catalog = CatalogTests.sound
        catalog.offerings = [
            .init(
                id: "standard",
                products: ["monthly", "pass"],
                texts: [
                    "en": .init(title: "Go Pro", body: "All of it."), "ja": .init(title: "Pro"),
                ]
            ), .init(id: "coins", products: ["coins"]),
        ]
        catalog.placements = [
            .init(
                id: "paywall",
                variants: [
                    .init(offering: "standard", percent: 70), .init(offering: "coins", percent: 30),
                ]
            )
        ]
        return catalog
    }()

    @Test("a sound catalog has no problems, and finds its offerings and placements")
    func found() {
        #expect(Self.sound.validate() == [])
        #expect(Self.sound.offering(id: "coins")?.products == ["coins"])
        #expect(Self.sound.offering(id: "other") == nil)
        #expect(Self.sound.placement(id: "paywall")?.variants.count == 2)
        #expect(Self.sound.placement(id: "other") == nil)
    }

    @Test("each ticket belongs to one variant, and the variants have as many as their shares say")
    func tickets() throws {
        let placement = try #require(Self.sound.placement(id: "paywall"))
        let drawn = (0..<100).map { placement.offering(ofTicket: $0) }
        #expect(drawn.count { $0 == "standard" } == 70)
        #expect(drawn.count { $0 == "coins" } == 30)
        #expect(drawn[69] == "standard" && drawn[70] == "coins")
        #expect(Catalog.Placement(id: "empty", variants: []).offering(ofTicket: 0) == nil)
        // No customer goes without an offering, even where the shares are wrong.
        var short = placement
        short.variants[0].percent = 60
        #expect(short.offering(ofTicket: 95) == "coins")
    }

    @Test("the longest words and a placement of one offering are sound")
    func bounds() {
        var catalog = Self.sound
        catalog.offerings[0].texts["en"] = .init(
            title: String(repeating: "x", count: 200),
            body: String(repeating: "x", count: 2000)
        )
        catalog.placements[0].variants = [.init(offering: "standard", percent: 100)]
        #expect(catalog.validate() == [])
    }

    @Test("mistakes in the words come in the order of the languages")
    func orderOfLanguages() {
        var catalog = Self.sound
        for language in ["French", "English", "German"] {
            catalog.offerings[0].texts[language] = .init(title: "Go Pro")
        }
        let places = catalog.validate().map { $0.description.prefix { $0 != ":" } }
        #expect(places == ["English", "French", "German"].map { "offerings[0].texts.\($0)" })
    }

    @Test("a share that moves between neighbours moves nobody else")
    func movedShares() {
        func placement(_ shares: [Int]) -> Catalog.Placement {
            .init(
                id: "paywall",
                variants: zip(["a", "b", "c"], shares).map { .init(offering: $0, percent: $1) }
            )
        }
        let before = placement([50, 40, 10])
        let after = placement([50, 20, 30])
        let moved = (0..<100).filter {
            before.offering(ofTicket: $0) != after.offering(ofTicket: $0)
        }
        #expect(moved == Array(70..<90))
    }

    @Test(
        "what is kept of them has the words of catalog.yaml, and none are kept of a catalog without"
    )
    func json() throws {
        let text = String(decoding: try Self.sound.canonicalJSON(), as: UTF8.self)
        #expect(
            text.contains(
                #""offerings":[{"id":"standard","products":["monthly","pass"],"texts":{"en":{"body":"All of it.","title":"Go Pro"},"ja":{"title":"Pro"}}},{"id":"coins","products":["coins"],"texts":{}}]"#
            )
        )
        #expect(
            text.contains(
                #""placements":[{"id":"paywall","variants":[{"offering":"standard","percent":70},{"offering":"coins","percent":30}]}]"#
            )
        )
        #expect(try JSONDecoder().decode(Catalog.self, from: Data(text.utf8)) == Self.sound)
        let without = String(decoding: try CatalogTests.sound.canonicalJSON(), as: UTF8.self)
        #expect(!without.contains("offerings") && !without.contains("placements"))
    }

    static let mistakes: [CatalogTests.Mistake] = [
        .init("offering twice", "offerings[1].id: the offering ‘standard’ is there twice") {
            $0.offerings[1].id = "standard"
            $0.placements = []
        },
        .init("no id of an offering", "offerings[1].id: an offering's id consists of letters") {
            $0.offerings[1].id = "all coins"
            $0.placements = []
        },
        .init("no id of a placement", "placements[0].id: a placement's id consists of letters") {
            $0.placements[0].id = "pay wall"
        },
        .init("no product", "offerings[1].products: the offering ‘coins’ shows nothing") {
            $0.offerings[1].products = []
        },
        .init("unknown product", "offerings[1].products[0]: there is no product ‘gems’") {
            $0.offerings[1].products = ["gems"]
        },
        .init("retired product", "offerings[1].products[0]: ‘coins’ is retired") {
            $0.products[2].isRetired = true
            $0.buyButtons = []
        },
        .init("free plan", "offerings[1].products[0]: ‘coins’ has no price") {
            $0.products[2].kind = .freeSubscription
        },
        .init("product twice", "offerings[0].products[2]: ‘pass’ is listed twice") {
            $0.offerings[0].products.append("pass")
        },
        .init("no language", "offerings[0].texts.English: ‘English’ is no language") {
            $0.offerings[0].texts["English"] = .init(title: "Go Pro")
        },
        .init("empty title", "offerings[0].texts.ja.title: people read this name") {
            $0.offerings[0].texts["ja"] = .init(title: " ")
        },
        .init("long body", "offerings[0].texts.ja.body: this has at most 2000 bytes") {
            $0.offerings[0].texts["ja"]?.body = String(repeating: "x", count: 2001)
        },
        .init("placement twice", "placements[1].id: the placement ‘paywall’ is there twice") {
            $0.placements.append($0.placements[0])
        },
        .init("unknown offering", "placements[0].variants[1].offering: there is no offering ‘gems’")
        {
            $0.placements[0].variants[1].offering = "gems"
        },
        .init("variant twice", "placements[0].variants[1].offering: ‘standard’ is listed twice") {
            $0.placements[0].variants[1].offering = "standard"
        },
        .init("no share", "placements[0].variants[1].percent: a share is a whole number") {
            $0.placements[0].variants[1].percent = 0
        },
        .init("too little", "placements[0].variants: the shares add up to 99") {
            $0.placements[0].variants[1].percent = 29
        },
        .init("no variant", "placements[0].variants: the shares add up to 0") {
            $0.placements[0].variants = []
        },
    ]

    @Test("a mistake is named with its place, once", arguments: mistakes)
    func problems(_ mistake: CatalogTests.Mistake) {
        var catalog = Self.sound
        mistake.change(&catalog)
        let problems = catalog.validate().map(\.description)
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.hasPrefix(mistake.problem) == true, "\(problems)")
    }

    @Test(
        "languages are written as BCP 47 does",
        arguments: [
            ("en", true), ("zh-Hans", true), ("pt-BR", true), ("es-419", true),
            ("zh-Hans-CN", true), ("fil", true), ("", false), ("e", false), ("EN", false),
            ("en_US", false), ("en-U.S", false), ("en-U S", false), ("zh-Hans-CN-abc", false),
            ("en-", false), ("zh-Hans-CN-x", false), ("deutsch", false),
        ]
    )
    func languages(_ language: String, _ isKnown: Bool) {
        var catalog = Self.sound
        catalog.offerings[0].texts = [language: .init(title: "Go Pro")]
        #expect(catalog.validate().isEmpty == isKnown)
    }
}
