internal import Foundation
internal import TollgateAPI
internal import TollgateService

/// The portal page as its template takes it.
struct PortalPage {
    struct Notice {
        var text: String
        var isRefusal: Bool
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
        var price: String?
        var isActive: Bool
        var isWarning: Bool
        var managementURL: String?
        /// Where it is managed: `in Google Play`.
        var place: String
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

    var user: String
    var returnURL: String?
    var notice: Notice?
    var paidTwice: String?
    var paidTwicePlaces: String
    var plans: [Row]
    var hasPlans: Bool
    var once: [Row]
    var hasOnce: Bool
    var isEmpty: Bool
    var coins: Int64
    var debt: Int64?
    var movements: [String]
    var hasMovements: Bool
    var invoices: [Invoice]
    var hasInvoices: Bool
    var lacksInvoices: Bool
    var hasStripe: Bool

    init(_ view: PortalView, returnURL: String?, notice: Notice?) {
        user = view.customer.appUserID
        self.returnURL = returnURL
        self.notice = notice
        paidTwice = view.paidTwice.isEmpty ? nil : view.paidTwice.joined(separator: ", ")
        paidTwicePlaces = view.paidTwicePlaces.joined(separator: " and ")
        plans = view.purchases.filter { $0.kind == .plan }.map { Row($0) }
        hasPlans = !plans.isEmpty
        once = view.purchases.filter { $0.kind != .plan }.map { Row($0) }
        hasOnce = !once.isEmpty
        isEmpty = view.purchases.isEmpty
        coins = view.coins.spendable
        debt = view.coins.debt > 0 ? view.coins.debt : nil
        movements = view.coinMovements.map { $0.amount > 0 ? "+\($0.amount)" : "−\(-$0.amount)" }
        hasMovements = !movements.isEmpty
        invoices = view.invoices.prefix(12).map { Invoice($0) }
        hasInvoices = !invoices.isEmpty
        lacksInvoices = view.lacksInvoices
        hasStripe = view.hasStripe
    }

    /// What the page says after something was done, by a word of our own in its address.
    static func notice(_ word: String?) -> Notice? {
        switch word {
        case "cancel":
            Notice(text: "Cancelled. You keep it until the end of the period.", isRefusal: false)
        case "resume":
            Notice(text: "Your subscription goes on.", isRefusal: false)
        case "switch":
            Notice(text: "Your plan has been changed.", isRefusal: false)
        case "declined":
            Notice(
                text:
                    "The payment was declined, so nothing was changed. Change your payment method and try again.",
                isRefusal: true
            )
        case "later":
            Notice(
                text: "The shop is out of reach for the moment. Nothing was changed; try again.",
                isRefusal: true
            )
        case "gone":
            Notice(
                text: "That can no longer be done. Here is how things stand now.",
                isRefusal: true
            )
        default: nil
        }
    }
}

extension PortalPage.Row {
    init(_ purchase: PortalView.Purchase) {
        name = purchase.name
        store = purchase.shop ?? "Gift"
        state =
            purchase.kind == .once && purchase.state == .paymentFailed(accessUntil: nil)
            ? "The payment failed, so nothing was bought." : purchase.state.sentence
        price = purchase.price.map { PortalText.price($0, every: purchase.interval) }
        isActive = purchase.isActive
        isWarning =
            if case .paymentFailed = purchase.state { true } else { false }
        managementURL = purchase.managementURL
        place = purchase.inShop ?? ""
        func url(_ action: String, _ more: String = "") -> String {
            "/portal/change?action=\(action)&subscription=\(PortalText.escaped(purchase.id))\(more)"
        }
        cancelURL = purchase.canCancel ? url("cancel") : nil
        resumeURL = purchase.canResume ? url("resume") : nil
        choices = purchase.choices.map {
            PortalPage.Choice(
                name: $0.name,
                choicePrice: choicePrice($0),
                url: url("switch", "&product=\(PortalText.escaped($0.product))")
            )
        }
        hasChoices = !choices.isEmpty
        hasActions = cancelURL != nil || resumeURL != nil || hasChoices || managementURL != nil
    }
}

/// `$79.99 a year`.
private func choicePrice(_ choice: PortalView.Purchase.Choice) -> String? {
    choice.price.map { PortalText.price($0, every: choice.interval) }
}

extension PortalPage.Invoice {
    init(_ invoice: PortalView.Invoice) {
        number = invoice.number
        date = PortalText.day(invoice.created)
        amount = PortalText.price(invoice.amount, every: nil)
        status = invoice.status == "uncollectible" ? "not paid" : invoice.status
        isOpen = invoice.status == "open"
        url = invoice.url
    }
}

/// The page that asks once more before something is changed.
struct PortalChangePage {
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
        subscription: String,
        action: String,
        product: String?,
        form: String
    ) {
        guard let purchase = view.purchases.first(where: { $0.id == subscription }) else {
            return nil
        }
        self.subscription = subscription
        self.action = action
        self.product = product
        self.form = form
        isDangerous = false
        switch action {
        case "cancel" where purchase.canCancel:
            title = "Cancel \(purchase.name)?"
            text =
                if case .renews(let end) = purchase.state {
                    "You keep it until \(PortalText.day(end)); then it ends and nothing more is charged."
                } else {
                    "It ends with the present period and nothing more is charged."
                }
            confirm = "Cancel subscription"
            isDangerous = true
        case "resume" where purchase.canResume:
            title = "Keep \(purchase.name)?"
            text = "It will renew as before, and you will be charged when the period ends."
            confirm = "Keep subscription"
        case "switch":
            guard let choice = purchase.choices.first(where: { $0.product == product }) else {
                return nil
            }
            let price =
                choice.price.map { PortalText.price($0, every: choice.interval) } ?? "its price"
            title = "Change to \(choice.name)?"
            text =
                "It costs \(price). What you have paid for the rest of the present period is credited, "
                + "and the difference is charged now."
            confirm = "Change plan"
        default: return nil
        }
    }
}
