// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The outbox of emails to customers, and what they look like.
struct EmailPages: DashboardPages {
    let request: DashboardRequest

    /// The settings of the moment; `nil`: no emails are sent.
    private var setUp: LetterSetUp? { dashboard.emails() }

    func emails() async throws -> Response {
        let letters = try await tollgate.store.letters.page(
            after: ask.query("after").flatMap { RowKey(hex: $0) },
            limit: 51
        )
        let shown = Array(letters.prefix(50))
        let customers = try await tollgate.store.customers(
            ofRows: shown.map(\.customer),
            in: .production
        )
        let names = try await customerNames(customers.values)
        let table = Table(
            caption: words["nav_emails"],
            columns: [
                words["when"], words["kind"], words["customer"], words["state"],
                words["attempts"], words["tried"], words["outcome"],
            ],
            numbers: [4],
            rows: shown.map { letter in
                let customer = customers[letter.customer]
                return [
                    Cell.time(letter.queued, formats),
                    Cell.noted(kindName(letter.kind), letter.purchase.canonical)
                        .with(id: letter.reference),
                    customer.map {
                        Cell.link(
                            names[$0] ?? words["erased"],
                            "/dashboard/customers/\(Ask.escaped($0.rawValue))"
                        )
                    } ?? Cell(words["erased"]), state(of: letter),
                    Cell(formats.number(letter.attempts)),
                    letter.tried.map { Cell.time($0, formats) } ?? Cell("–"),
                    letter.outcome.map { readCell($0) } ?? Cell("–"),
                ]
            },
            empty: words["no_emails"],
            next: letters.count > 50
                ? shown.last.map { "/dashboard/emails?after=\($0.key.hex)" } ?? nil : nil
        )
        let hasFailed = try await tollgate.store.letters.hasFailed()
        return list(
            words["nav_emails"],
            section: "emails",
            template: "dash_emails",
            table,
            file: "emails",
            [
                "lead": words["emails_lead"], "isOn": setUp != nil,
                "action": hasFailed && visit.member.role >= .support
                    ? "/dashboard/emails/retry" : false,
                "previews": try Letter.Kind.allCases.map { try preview(of: $0) },
            ]
        )
    }

    /// A letter with sample values in HTML, as a page that runs nothing.
    func letter(_ kind: String, _ language: String) throws -> Response {
        guard let kind = Letter.Kind(rawValue: kind),
            let language = CustomerLanguage(rawValue: language)
        else { throw Refusal.nothingHere }
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; img-src https:; "
            + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
        return Response(
            status: .ok,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: try text(kind, language).html))
        )
    }

    func retry() async throws -> Response {
        try visit.require(.support)
        _ = try await audited(Deed("emails.retry", "emails:failed")) {
            try await tollgate.store.letters.retryFailed(at: await tollgate.clocks.now())
        }
        return done("emails_retried", "/dashboard/emails")
    }

    // MARK: - Parts

    private func kindName(_ kind: String) -> String { words.of("email", kind) }

    private func state(of letter: LetterRow) -> Cell {
        switch letter.status {
        case .waiting: .badge(words["email_waiting"], letter.attempts == 0 ? "plain" : "warn")
        case .sent: .badge(words["email_sent"], "on")
        case .failed: .badge(words["email_failed"], "bad")
        case .refused: .badge(words["email_refused"], "bad")
        case .dropped: .badge(words["email_dropped"], "plain")
        }
    }

    private func preview(of kind: Letter.Kind) throws -> Model {
        let isSent = setUp?.settings.kinds.contains(kind) ?? false
        return [
            "previewName": kindName(kind.rawValue), "isSent": isSent,
            "previewState": words[isSent ? "on" : "off"],
            "texts": try CustomerLanguage.allCases.map { language -> Model in
                let text = try text(kind, language)
                return [
                    "code": language.rawValue, "languageName": language.name,
                    "subject": text.subject, "body": text.text,
                    "url": "/dashboard/emails/\(kind.rawValue)/\(language.rawValue)",
                ]
            },
        ]
    }

    /// By the templates in force; by the built-in ones where no emails are sent.
    private func text(_ kind: Letter.Kind, _ language: CustomerLanguage) throws -> LetterText {
        let content = sample(kind)
        if let setUp { return setUp.write(content, language.rawValue) }
        return try LetterTemplates.builtIn.get().text(of: content, in: language.rawValue)
    }

    private func sample(_ kind: Letter.Kind) -> LetterContent {
        let catalog = tollgate.store.history.current
        let plan = catalog.products.first { $0.kind == .autoRenewable && $0.price != nil }
        let day = Instant(milliseconds: 1_780_272_000_000)
        let letter = Letter(
            kind,
            about: TollgateCore.Purchase.Key(
                store: .stripe,
                environment: .sandbox,
                application: "-",
                id: "sub_sample"
            ),
            reference: "sample",
            caused: day,
            product: plan?.name ?? "Pro",
            amount: plan?.price ?? Catalog.Product.Price(amount: 999, currency: "usd"),
            interval: kind == .trialEnds ? "month" : nil,
            date: day
        )
        let url = tollgate.configuration.publicURL
        return LetterContent(
            letter,
            app: setUp?.settings.senderName ?? "",
            shop: "",
            link: setUp?.settings.accountURL ?? tollgate.configuration.appURL ?? "\(url)/portal",
            unsubscribe: kind.isTransactional ? nil : "\(url)/emails/unsubscribe?address=…"
        )
    }
}
