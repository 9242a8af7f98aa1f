public import Stores

/// How often each caller may make this server call a store, or keep something for good.
public struct CallLimits: Sendable {
    /// Opening Checkout for nobody in particular, per network address.
    public let visits = CallLimit(calls: 20, seconds: 60)
    /// Coming back from Checkout, per network address.
    public let returns = CallLimit(calls: 60, seconds: 60)
    /// Beginning a sign-in at the issuer of staff, per network address.
    public let signIns = CallLimit(calls: 20, seconds: 60)
    /// The same where everybody may have one address.
    public let signInsOfMany = CallLimit(calls: 600, seconds: 60)
    /// Looking at what a store has to say, per customer, or per network address of who is not
    /// signed in: how a checkout went, the portal's pages.
    public let questions = CallLimit(calls: 60, seconds: 60)
    /// Telling what StoreKit holds, per customer; the SDK does so once a day.
    public let observations = CallLimit(calls: 4, seconds: 3_600)
    /// Telling which offering was shown, per customer.
    public let shownOfferings = CallLimit(calls: 60, seconds: 60)
    /// Having a store do something, per customer: open Checkout or Stripe's portal, change a plan,
    /// read a receipt.
    public let storeCalls = CallLimit(calls: 20, seconds: 60)
    /// The same for everybody who is signed in at one network address.
    public let addresses = CallLimit(calls: 300, seconds: 60)
    /// The same for the app's backend: below what Stripe lets an account do.
    public let backend = CallLimit(calls: 1200, seconds: 60)
    /// The same for one secret key with scopes, so that it leaves room for the others.
    public let scopedKeys = CallLimit(calls: 600, seconds: 60)
    /// Links to the portal, per customer: each is a session.
    public let portalLinks = CallLimit(calls: 60, seconds: 3600)
}
