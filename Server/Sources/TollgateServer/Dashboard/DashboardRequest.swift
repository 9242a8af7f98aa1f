internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// One request of somebody who is signed in.
struct DashboardRequest: Sendable {
    let dashboard: Dashboard
    let ask: Ask
    let visit: StaffVisit
    let words: Words
    let formats: Formats
    /// The views that the reader keeps of this page.
    private(set) var views: [StoredView] = []

    init(dashboard: Dashboard, ask: Ask, visit: StaffVisit) {
        self.dashboard = dashboard
        self.ask = ask
        self.visit = visit
        words = Words.of(ask.language)
        formats = Formats(language: ask.language)
    }

    var tollgate: Tollgate { dashboard.tollgate }

    func answer() async throws -> Response {
        do {
            guard !visit.lacksSecondFactor || ["account", "sign-out"].contains(ask.section) else {
                return dashboard.redirect("/dashboard/account/second-factor")
            }
            if ask.isReading {
                var reading = self
                reading.views = try await tollgate.savedViews.of(visit.member, page: ask.pagePath)
                return try await reading.read()
            }
            let form = try await ask.form()
            guard form["form"] == visit.formToken else { throw Refusal.csrf }
            return try await act(form)
        } catch {
            return dashboard.failed(error, ask, visit: visit)
        }
    }

    private func read() async throws -> Response {
        switch (ask.section, ask.path.count) {
        case ("", _): try await OverviewPage(request: self).overview()
        case ("reports", 1...2): try await ReportPages(request: self).reports()
        case ("reconciliation", 1): try await finance.reconciliation()
        case ("payments", 1): try await finance.payments()
        case ("statement", 1): try await finance.statement()
        case ("webhooks", 1): try await webhooks.webhooks()
        case ("webhooks", 2): try await webhooks.webhook(ask.path[1])
        case ("emails", 1): try await emails.emails()
        case ("emails", 3): try emails.letter(ask.path[1], ask.path[2])
        case ("suggestions", 1): try await customers.suggestions()
        case ("customers", 1): try await customers.customers()
        case ("customers", 2): try await customers.customer(ask.path[1])
        case ("customers", 3) where ask.path[2] == "explain":
            try await customers.explain(ask.path[1])
        case ("customers", 3): try await customerForms.confirm(ask.path[1], ask.path[2])
        case ("access", 1): try await AccessPages(request: self).access()
        case ("purchases", 1): try await purchases.purchases()
        case ("purchases", 2): try await purchases.purchase(ask.path[1])
        case ("purchases", 3) where ask.path[2] == "refunds":
            try await appStore.refunds(ask.path[1])
        case ("app-store", 1): try await appStore.appStore()
        case ("deliveries", 1): try await deliveries.deliveries()
        case ("deliveries", 2): try await deliveries.delivery(ask.path[1])
        case ("parked", 1): try await deliveries.parked()
        case ("events", 1): try await deliveries.events()
        case ("catalog", 1): system.catalog(checked: nil)
        case ("health", 1): try await system.health()
        case ("doctor", 1): try doctor.doctor()
        case ("audit", 1): try await system.audit()
        case ("staff", 1): try await staff.staff(invitation: nil)
        case ("keys", 1): try await keys.keys(made: nil)
        case ("account", 1): staff.account(refusal: nil)
        case ("account", 2) where ask.path[1] == "second-factor":
            try await secondFactor.secondFactor(refusal: nil)
        case ("sandbox", 1) where dashboard.levers != nil: try await sandbox.sandbox(notice: nil)
        default: throw Refusal.nothingHere
        }
    }

    private func act(_ form: [String: String]) async throws -> Response {
        switch (ask.section, ask.path.count) {
        case ("customers", 3): try await customerForms.change(ask.path[1], ask.path[2], form)
        case ("purchases", 3) where ask.path[2] == "assign":
            try await purchases.assign(ask.path[1], form)
        case ("purchases", 3):
            try await appStore.changeAtAppStore(ask.path[1], ask.path[2], form)
        case ("app-store", 2) where ask.path[1] == "extend": try await appStore.extendAll(form)
        case ("reconciliation", 2) where ask.path[1] == "compare": try await finance.compare()
        case ("webhooks", 3) where ask.path[2] == "replay":
            try await webhooks.replay(ask.path[1], form)
        case ("emails", 2) where ask.path[1] == "retry": try await emails.retry()
        case ("parked", 2) where ask.path[1] == "retry": try await deliveries.retryParked(form)
        case ("catalog", 2) where ask.path[1] == "check":
            system.catalog(checked: form["catalog"] ?? "")
        case ("doctor", 2) where ask.path[1] == "ask": try await doctor.examine()
        case ("doctor", 2) where ask.path[1] == "alert-test": try await doctor.testAlerts()
        case ("staff", 2): try await staff.changeStaff(ask.path[1], form)
        case ("keys", 2): try await keys.changeKeys(ask.path[1], form)
        case ("account", 2) where ask.path[1] == "password": try await staff.changePassword(form)
        case ("account", 3) where ask.path[1] == "second-factor":
            try await secondFactor.changeSecondFactor(ask.path[2], form)
        case ("views", 2): try await changeViews(ask.path[1], form)
        case ("sign-out", 1): try await signOut()
        case ("sandbox", 2) where dashboard.levers != nil: try await sandbox.pull(ask.path[1], form)
        default: throw Refusal.nothingHere
        }
    }

    private var finance: FinancePages { FinancePages(request: self) }
    private var webhooks: WebhookPages { WebhookPages(request: self) }
    private var emails: EmailPages { EmailPages(request: self) }
    private var customers: CustomerPages { CustomerPages(request: self) }
    private var customerForms: CustomerForms { CustomerForms(request: self) }
    private var purchases: PurchasePages { PurchasePages(request: self) }
    private var appStore: AppStorePages { AppStorePages(request: self) }
    private var deliveries: DeliveryPages { DeliveryPages(request: self) }
    private var system: SystemPages { SystemPages(request: self) }
    private var doctor: DoctorPage { DoctorPage(request: self) }
    private var staff: StaffPages { StaffPages(request: self) }
    private var keys: KeyPages { KeyPages(request: self) }
    private var secondFactor: SecondFactorPages { SecondFactorPages(request: self) }
    private var sandbox: SandboxPages { SandboxPages(request: self) }

    private func signOut() async throws -> Response {
        try await tollgate.signIns.end(visit)
        return dashboard.redirect(
            "/dashboard/sign-in",
            cookies: [dashboard.cookie.set("", seconds: 0)]
        )
    }
}

extension Refusal {
    /// 404 for an address of the dashboard.
    static let nothingHere = Refusal.notFound(.resourceMissing, "There is nothing at this address.")
}
