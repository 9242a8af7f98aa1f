// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import TollgateAPI
internal import TollgateService

/// The page behind the link of letters that unsubscribes.
///
/// Looking at it changes nothing, since programs follow links in mail. The button, and the one press
/// in a mail program (RFC 8058), send a form without a sign-in: the signed link is all that they need.
func addUnsubscribe(
    to router: Router<ServerRequestContext>,
    _ tollgate: Tollgate,
    _ pages: PageTemplates
) {
    @Sendable func link(_ request: Request) -> (address: String?, signature: String?) {
        (request.parameter("address"), request.parameter("signature"))
    }
    @Sendable func broken(_ request: Request) -> Response {
        pages.page(
            "checkout",
            CheckoutPage(
                .unsubscribeBroken,
                appURL: tollgate.configuration.appURL,
                request.language
            ),
            status: .notFound
        )
    }
    router.get(APIPath.emailsUnsubscribe.route) { request, _ in
        let (address, signature) = link(request)
        guard let address, let signature,
            try await tollgate.letterRefusals.isValid(address: address, signature: signature)
        else { return broken(request) }
        let words = Words.of(request.language)
        return pages.page(
            "unsubscribe",
            [
                "lang": request.language.rawValue, "t": words.table,
                "action": "/emails/unsubscribe?address=\(address)&signature=\(signature)",
            ] as Model
        )
    }
    router.post(APIPath.emailsUnsubscribe.route) { request, _ in
        let (address, signature) = link(request)
        // What the form says does not matter, only that somebody sent it.
        _ = try await request.bytes(upTo: 1 << 10)
        guard
            try await tollgate.letterRefusals.refuse(address: address, signature: signature)
        else { return broken(request) }
        return pages.page(
            "checkout",
            CheckoutPage(.unsubscribed, appURL: tollgate.configuration.appURL, request.language)
        )
    }
}
