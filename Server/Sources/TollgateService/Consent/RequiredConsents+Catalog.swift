internal import TollgateAPI
internal import TollgateCore

extension API.RequiredConsents {
    /// What `gates` ask for.
    init(_ gates: Catalog.Gates) {
        self.init(
            terms: [
                gates.termsVersion.map {
                    Document(document: Document.terms, version: $0, url: gates.termsURL)
                },
                gates.subscriptionTermsVersion.map {
                    Document(
                        document: Document.subscriptionTerms,
                        version: $0,
                        url: gates.subscriptionTermsURL
                    )
                },
            ].compactMap(\.self),
            minimumAge: gates.minimumAge,
            ages: gates.askedAges,
            parentalConsentBelow: gates.parentalConsentBelow
        )
    }
}
