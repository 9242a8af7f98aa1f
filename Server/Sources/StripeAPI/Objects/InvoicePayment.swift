public import StrictJSON

extension Stripe {
    /// What connects an invoice with the payment that settled it.
    public struct InvoicePayment: IdentifiedObject {
        public static let objectName = "invoice_payment"

        public let id: String
        public let invoice: IDOrObject<Invoice>
        public let paymentIntent: IDOrObject<PaymentIntent>?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            invoice = try fields.reference("invoice")
            let payment = try fields.optionalFields("payment")
            paymentIntent = try payment?.optionalReference("payment_intent")
            self.json = json
        }
    }
}
