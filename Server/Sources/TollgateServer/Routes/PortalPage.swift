internal import Foundation
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// The portal page as its template takes it.
struct PortalPage {
    struct Notice {
        var text: String
        var isRefusal: Bool
    }

    struct LanguageChoice {
        var code: String
        var languageName: String
        var isChosen: Bool
    }

    struct Choice {
        var name: String
        /// Not `price`: where a template finds nothing it looks into the row around it.
        var choicePrice: String?
        var url: String
    }

    struct Row {
        var name: String
        var store: String
        var state: String
        var badge: String
        var price: String?
        /// What it costs next and when, or that nothing more is charged.
        var nextCharge: String?
        var isActive: Bool
        var isWarning: Bool
        var managementURL: String?
        /// `Manage in Google Play`.
        var manage: String
        /// The same with the name, for those who hear it by itself.
        var manageLabel: String
        var cancelLabel: String
        var keepLabel: String
        var cancelURL: String?
        var resumeURL: String?
        var hasChoices: Bool
        var choices: [Choice]
        var hasActions: Bool
    }

    struct Invoice {
        var number: String
        var date: String
        var amount: String
        var status: String
        var isOpen: Bool
        var url: String?
    }

    var t: [String: String]
    var lang: String
    var languages: [LanguageChoice]
    var user: String
    var returnURL: String?
    var notice: Notice?
    var paidTwice: String?
    var owes: String?
    var plans: [Row]
    var hasPlans: Bool
    var once: [Row]
    var hasOnce: Bool
    var isEmpty: Bool
    var coins: Int64
    var movements: [String]
    var hasMovements: Bool
    var invoices: [Invoice]
    var hasInvoices: Bool
    var newerInvoices: String?
    var olderInvoices: String?
    var lacksInvoices: Bool
    var hasStripe: Bool

    /// How many invoices one page shows.
    static let invoicesOfPage = 12

    /// - Parameter page: of the invoices, from 1.
    init(_ view: PortalView, _ text: PortalText, returnURL: String?, notice: Notice?, page: Int) {
        let words = text.words
        t = words.table
        lang = text.language.rawValue
        languages = CustomerLanguage.allCases.map {
            LanguageChoice(code: $0.rawValue, languageName: $0.name, isChosen: $0 == text.language)
        }
        user = view.customer.appUserID
        self.returnURL = returnURL
        self.notice = notice
        let places = text.language == .english ? view.paidTwicePlaces : view.paidTwiceShops
        paidTwice =
            view.paidTwice.isEmpty
            ? nil
            : words(
                "portal_twice",
                ["what": view.paidTwice.joined(separator: ", "), "where": text.list(places)]
            )
        plans = view.purchases.filter { $0.kind == .plan }.map { Row($0, text) }
        hasPlans = !plans.isEmpty
        once = view.purchases.filter { $0.kind != .plan }.map { Row($0, text) }
        hasOnce = !once.isEmpty
        isEmpty = view.purchases.isEmpty
        coins = view.coins.spendable
        owes =
            view.coins.debt > 0
            ? words("portal_owes", ["count": "\(view.coins.debt)"]) : nil
        movements = view.coinMovements.map { $0.amount > 0 ? "+\($0.amount)" : "−\(-$0.amount)" }
        hasMovements = !movements.isEmpty
        let pages = max(1, (view.invoices.count + Self.invoicesOfPage - 1) / Self.invoicesOfPage)
        let page = max(1, min(page, pages))
        invoices = view.invoices.dropFirst((page - 1) * Self.invoicesOfPage)
            .prefix(Self.invoicesOfPage).map { Invoice($0, text) }
        hasInvoices = !invoices.isEmpty
        newerInvoices = page > 1 ? "/portal?page=\(page - 1)#invoices" : nil
        olderInvoices = page < pages ? "/portal?page=\(page + 1)#invoices" : nil
        lacksInvoices = view.lacksInvoices
        hasStripe = view.hasStripe
    }

    /// What the page says after something was done, by a word of our own in its address.
    static func notice(_ word: String?, _ text: PortalText) -> Notice? {
        switch word {
        case "cancel", "resume", "switch":
            Notice(text: text.words["portal_done_\(word ?? "")"], isRefusal: false)
        case "declined", "later", "gone":
            Notice(text: text.words["portal_done_\(word ?? "")"], isRefusal: true)
        default: nil
        }
    }
}

extension PortalPage.Row {
    init(_ purchase: PortalView.Purchase, _ text: PortalText) {
        let words = text.words
        name = purchase.name
        store = purchase.shop ?? words["portal_gift"]
        state =
            purchase.kind == .once && purchase.standing.state == .paymentFailed(accessUntil: nil)
            ? words["portal_failed_once"] : text.sentence(purchase.standing.state)
        badge = text.badge(purchase)
        price = purchase.price.map { text.price($0, every: purchase.interval) }
        nextCharge = text.nextCharge(purchase)
        isActive = purchase.isActive
        isWarning =
            if case .paymentFailed = purchase.standing.state { true } else { false }
        managementURL = purchase.managementURL
        let place = text.place(purchase)
        manage = words("portal_manage", ["place": place])
        manageLabel = words("portal_manage_label", ["name": name, "place": place])
        cancelLabel = words("portal_cancel_label", ["name": name])
        keepLabel = words("portal_keep_label", ["name": name])
        func url(_ action: String, _ more: String = "") -> String {
            "/portal/change?action=\(action)&subscription=\(PortalText.escaped(purchase.id))\(more)"
        }
        cancelURL = purchase.standing.canCancel ? url("cancel") : nil
        resumeURL = purchase.standing.canResume ? url("resume") : nil
        choices = purchase.standing.choices.map { choice in
            PortalPage.Choice(
                name: words("portal_change_to", ["name": choice.name]),
                choicePrice: choice.price.map { text.price($0, every: choice.singleInterval) },
                url: url("switch", "&product=\(PortalText.escaped(choice.id))")
            )
        }
        hasChoices = !choices.isEmpty
        hasActions = cancelURL != nil || resumeURL != nil || hasChoices || managementURL != nil
    }
}

extension PortalPage.Invoice {
    init(_ invoice: StoreInvoice, _ text: PortalText) {
        number = invoice.number
        date = text.day(invoice.created)
        amount = text.price(invoice.amount, every: nil)
        status = text.words.of("portal_invoice", invoice.status)
        isOpen = invoice.status == "open"
        url = invoice.url
    }
}

/// The page that asks once more before something is changed.
struct PortalChangePage {
    var t: [String: String]
    var lang: String
    var title: String
    var text: String
    var confirm: String
    var isDangerous: Bool
    var action: String
    var subscription: String
    var product: String?
    var form: String

    /// `nil` where this cannot be done, or no longer.
    init?(
        _ view: PortalView,
        _ portal: PortalText,
        subscription: String,
        action: String,
        product: String?,
        form: String
    ) {
        guard let purchase = view.purchases.first(where: { $0.id == subscription }) else {
            return nil
        }
        let words = portal.words
        t = words.table
        lang = portal.language.rawValue
        self.subscription = subscription
        self.action = action
        self.product = product
        self.form = form
        isDangerous = false
        switch action {
        case "cancel" where purchase.standing.canCancel:
            title = words("portal_cancel_title", ["name": purchase.name])
            text =
                if case .renews(let end) = purchase.standing.state {
                    words("portal_cancel_until", ["date": portal.day(end)])
                } else {
                    words["portal_cancel_text"]
                }
            confirm = words["portal_cancel_confirm"]
            isDangerous = true
        case "resume" where purchase.standing.canResume:
            title = words("portal_resume_title", ["name": purchase.name])
            text = words["portal_resume_text"]
            confirm = words["portal_keep"]
        case "switch":
            guard let choice = purchase.standing.choices.first(where: { $0.id == product }) else {
                return nil
            }
            title = words("portal_switch_title", ["name": choice.name])
            text =
                choice.price.map {
                    words(
                        "portal_switch_price",
                        ["price": portal.price($0, every: choice.singleInterval)]
                    )
                } ?? words["portal_switch_text"]
            confirm = words["portal_switch_confirm"]
        default: return nil
        }
    }
}
