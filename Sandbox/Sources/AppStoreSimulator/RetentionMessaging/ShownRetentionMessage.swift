import Foundation
import SandboxClock

extension SimulatedAppStore {
    /// The message that a customer sees after a tap on Cancel Subscription, and how it was chosen.
    public struct ShownRetentionMessage: Encodable, Sendable {
        /// The message's origin.
        public enum Source: String, Encodable, Sendable {
            /// The app's endpoint chose it.
            case realtime
            /// The app has set it up for the product and the language.
            case defaultMessage = "default"
            /// Nothing is shown.
            case none
        }

        /// The request to the app's endpoint, and its result.
        public struct Request: Encodable, Sendable {
            public var requestIdentifier: String
            /// In the words of the notification history.
            public var result: SendAttemptResult
            /// The body as it came.
            public var reply: String
            /// The reason why the reply is not shown; `nil` where it is.
            public var failure: String?

            enum CodingKeys: String, CodingKey {
                case requestIdentifier = "request_identifier"
                case result, reply, failure
            }
        }

        public var source: Source
        public var messageIdentifier: String?
        public var header: String?
        public var body: String?
        /// The plan that the customer may switch to, or that the offer is for.
        public var productID: String?
        public var offerIdentifier: String?
        /// `nil` where the app has set up no endpoint.
        public var request: Request?

        enum CodingKeys: String, CodingKey {
            case source, header, body, request
            case messageIdentifier = "message_identifier"
            case productID = "product_id"
            case offerIdentifier = "offer_identifier"
        }
    }
}

extension SimulatedAppStore.ShownRetentionMessage {
    /// The message that the app's endpoint chose, or the default message where that failed for any
    /// reason.
    ///
    /// - Parameter call: `nil` where the app has set up no endpoint.
    init(
        after call: RealtimeCall?,
        _ answer: RealtimeCall.Answer?,
        for subscription: Subscription,
        locale: String,
        in world: inout World,
        signatures: OfferSignatures
    ) throws {
        var request: Request?
        if let call, let answer {
            var asked = Request(
                requestIdentifier: call.requestIdentifier,
                result: answer.result,
                reply: String(decoding: answer.body, as: UTF8.self)
            )
            if let reply = answer.reply {
                do {
                    try self.init(
                        chosenBy: reply,
                        for: subscription,
                        in: &world,
                        signatures: signatures
                    )
                    self.request = asked
                    return
                } catch let refusal as Refusal {
                    asked.failure = refusal.description
                }
            } else {
                asked.failure = "No valid reply came within \(call.limit) ms."
            }
            request = asked
        }
        let retention = world.retention ?? Retention()
        let place = Retention.Place(product: subscription.productID, locale: locale)
        if let message = retention.defaults[place].flatMap(retention.message),
            retention.isApproved(message)
        {
            self.init(message, .defaultMessage)
        } else {
            self.init(source: .none)
        }
        self.request = request
    }

    private init(_ message: Retention.Message, _ source: Source) {
        self.init(
            source: source,
            messageIdentifier: message.id,
            header: message.content.header,
            body: message.content.body
        )
    }

    /// The content that a reply chooses.
    private init(
        chosenBy reply: RealtimeReply,
        for subscription: Subscription,
        in world: inout World,
        signatures: OfferSignatures
    ) throws {
        if let message = reply.message {
            self.init(
                try Self.approved(message.messageIdentifier, withImage: true, in: world),
                .realtime
            )
        } else if let alternate = reply.alternateProduct {
            let message = try Self.approved(
                alternate.messageIdentifier,
                withImage: false,
                in: world
            )
            try Self.requireGroup(of: subscription, includes: alternate.productId, in: world)
            guard alternate.productId != subscription.productID else {
                throw Refusal.invalid("\(alternate.productId) is the plan that they have.")
            }
            self.init(message, .realtime)
            productID = alternate.productId
        } else if let offer = reply.promotionalOffer {
            let message = try Self.approved(offer.messageIdentifier, withImage: false, in: world)
            let (product, identifier) = try Self.check(
                offer,
                for: subscription,
                in: &world,
                signatures: signatures
            )
            self.init(message, .realtime)
            productID = product
            offerIdentifier = identifier
        } else {
            throw Refusal.invalid(
                "advancedCommerceInfo is for Advanced Commerce subscriptions only."
            )
        }
    }

    private static func approved(
        _ id: String,
        withImage mayHaveImage: Bool,
        in world: World
    ) throws(Refusal) -> Retention.Message {
        let retention = world.retention ?? Retention()
        guard let message = retention.message(id.lowercased()) else {
            throw .notFound("message \(id)")
        }
        guard retention.isApproved(message) else {
            throw .notPossible("The message \(id) is not approved.")
        }
        guard mayHaveImage || message.content.imageIDs.isEmpty else {
            throw .notPossible("Only a text-based message may have images.")
        }
        return message
    }

    private static func requireGroup(
        of subscription: Subscription,
        includes product: String,
        in world: World
    ) throws(Refusal) {
        guard world.products[product]?.subscriptionGroup == subscription.group else {
            throw .invalid("\(product) is no plan of the same subscription group.")
        }
    }

    private struct OfferClaims: Decodable {
        var productId: String
        var offerIdentifier: String
        var transactionId: String
    }

    /// Checks the signature of an offer; its nonce is used up.
    private static func check(
        _ offer: RealtimeReply.PromotionalOffer,
        for subscription: Subscription,
        in world: inout World,
        signatures: OfferSignatures
    ) throws -> (product: String, offer: String) {
        let product: String
        let identifier: String
        let proof: SimulatedAppStore.OfferProof
        var token = subscription.appAccountToken
        switch (offer.promotionalOfferSignatureV2, offer.promotionalOfferSignatureV1) {
        case (let jws?, nil):
            let parts = jws.split(separator: ".").map(String.init)
            guard parts.count == 3, let json = Data(base64URL: parts[1]),
                let claims = try? JSONDecoder().decode(OfferClaims.self, from: json),
                // The one parameter of the signature that is required here and optional elsewhere.
                claims.transactionId == subscription.originalTransactionID
            else {
                throw Refusal.invalid("The offer's JWS does not name this transaction.")
            }
            (product, identifier) = (claims.productId, claims.offerIdentifier)
            proof = .compactJWS(jws)
        case (nil, let signature?):
            (product, identifier) = (signature.productId, signature.offerIdentifier)
            token = signature.appAccountToken
            proof = .signature(
                keyID: signature.keyId,
                nonce: signature.nonce,
                timestamp: signature.timestamp,
                signature: signature.encodedSignature
            )
        default:
            throw Refusal.invalid("A promotional offer has one signature, of either version.")
        }
        try requireGroup(of: subscription, includes: product, in: world)
        guard
            world.products[product]?.offers.contains(where: {
                $0.id == identifier && $0.kind == .promotional
            }) ?? false
        else { throw Refusal.notFound("promotional offer \(identifier)") }
        _ = try signatures.check(
            proof,
            in: &world,
            offer: identifier,
            productID: product,
            customer: subscription.customer,
            appAccountToken: token ?? ""
        )
        return (product, identifier)
    }
}
