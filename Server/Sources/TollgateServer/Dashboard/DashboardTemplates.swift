internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Markup
internal import Mustache
internal import NIOCore

/// The dashboard's templates, compiled once for the process, and how its pages go out.
struct DashboardTemplates: Sendable {
    private let library: MustacheLibrary

    init() throws {
        library = try Self.compiled.get()
    }

    private static let compiled = Result {
        MustacheLibrary(
            templates: Dictionary(
                uniqueKeysWithValues: try sources.map {
                    ($0.name, try MustacheTemplate(page: $0.bytes))
                }
            )
        )
    }

    /// By name, as pages and other templates call them.
    static let sources: [(name: String, bytes: [UInt8])] = [
        ("dash_layout", PackageResources.dash_layout_mustache),
        ("dash_nav", PackageResources.dash_nav_mustache),
        ("dash_me", PackageResources.dash_me_mustache),
        ("dash_notice", PackageResources.dash_notice_mustache),
        ("dash_facts", PackageResources.dash_facts_mustache),
        ("dash_plot", PackageResources.dash_plot_mustache),
        ("dash_table", PackageResources.dash_table_mustache),
        ("dash_cohorts", PackageResources.dash_cohorts_mustache),
        ("dash_cell", PackageResources.dash_cell_mustache),
        ("dash_filters", PackageResources.dash_filters_mustache),
        ("dash_views", PackageResources.dash_views_mustache),
        ("dash_gate", PackageResources.dash_gate_mustache),
        ("dash_message", PackageResources.dash_message_mustache),
        ("dash_overview", PackageResources.dash_overview_mustache),
        ("dash_report", PackageResources.dash_report_mustache),
        ("dash_customers", PackageResources.dash_customers_mustache),
        ("dash_customer", PackageResources.dash_customer_mustache),
        ("dash_explain", PackageResources.dash_explain_mustache),
        ("dash_purchase", PackageResources.dash_purchase_mustache),
        ("dash_app_store", PackageResources.dash_app_store_mustache),
        ("dash_list", PackageResources.dash_list_mustache),
        ("dash_delivery", PackageResources.dash_delivery_mustache),
        ("dash_catalog", PackageResources.dash_catalog_mustache),
        ("dash_health", PackageResources.dash_health_mustache),
        ("dash_doctor", PackageResources.dash_doctor_mustache),
        ("dash_levers", PackageResources.dash_levers_mustache),
        ("dash_staff", PackageResources.dash_staff_mustache),
        ("dash_keys", PackageResources.dash_keys_mustache),
        ("dash_factor", PackageResources.dash_factor_mustache),
        ("dash_account", PackageResources.dash_account_mustache),
        ("dash_reconciliation", PackageResources.dash_reconciliation_mustache),
        ("dash_payments", PackageResources.dash_payments_mustache),
        ("dash_webhook", PackageResources.dash_webhook_mustache),
        ("dash_emails", PackageResources.dash_emails_mustache),
        ("dash_confirm", PackageResources.dash_confirm_mustache),
    ]

    /// Nothing from elsewhere, nothing inline: what somebody writes into a name runs nowhere.
    static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

    func page(
        _ name: String,
        _ content: Model,
        layout: Model,
        status: HTTPResponse.Status
    ) -> Response {
        var frame = layout
        // What is around a page, its own parts may name too.
        frame["content"] =
            library.render(layout.merging(content) { $1 }, withTemplate: name) ?? ""
        let html = library.render(frame, withTemplate: "dash_layout") ?? ""
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy,
        ]
        for (name, value) in [
            ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: status,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: html))
        )
    }
}
