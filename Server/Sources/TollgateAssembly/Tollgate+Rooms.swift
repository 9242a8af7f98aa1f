public import AppStoreAPI
public import AppStoreConnector
public import GooglePlayConnector
public import Logging
public import Reports
public import Storage
public import Stores
public import StripeAPI
public import StripeConnector
public import TollgateService

extension Tollgate {
    /// The application with a room for every store, each as far as it is set up.
    ///
    /// - Parameters:
    ///   - appStore: checks what the App Store signs; `nil` where no trusted root is configured.
    ///   - stripe: `nil` where no secret key is configured.
    ///   - others: the rooms of further stores; one of a store that has a room here already takes
    ///     its place.
    public convenience init(
        configuration: Configuration,
        store: RecordStore,
        appStore: AppStore.SignedDataVerifier?,
        appStoreClients: AppStoreClients? = nil,
        appStoreOptions: AppStoreOptions = AppStoreOptions(),
        stripe: Stripe.Client?,
        googlePlay: GooglePlaySetUp = GooglePlaySetUp(),
        webhooks: WebhookTransport? = nil,
        mails: MailTransport? = nil,
        openID: OpenIDClient? = nil,
        clocks: Clocks,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        signer: AnswerSigner,
        logger: Logger,
        connectors others: (StoreContext) -> [any StoreConnector] = { _ in [] }
    ) {
        let context = StoreContext(
            records: store,
            clocks: clocks,
            random: RandomSource(randomBytes),
            counters: Counters(),
            logger: logger,
            defaultEnvironment: configuration.defaultEnvironment
        )
        self.init(
            configuration: configuration,
            context: context,
            rooms: [
                AppStoreConnector(
                    context,
                    verifier: appStore,
                    clients: appStoreClients,
                    options: appStoreOptions
                ),
                StripeConnector(
                    context,
                    client: stripe,
                    webhookSecrets: configuration.stripeWebhookSecrets,
                    defaultEnvironment: configuration.defaultEnvironment,
                    publicURL: configuration.publicURL
                ),
                GooglePlayConnector(context, googlePlay),
            ],
            others: others(context),
            webhooks: webhooks,
            mails: mails,
            openID: openID,
            signer: signer
        )
    }

    public var appStore: AppStoreConnector { room() }
    public var stripe: StripeConnector { room() }
    public var googlePlay: GooglePlayConnector { room() }

    private func room<Room: StoreConnector>() -> Room {
        for case let room as Room in rooms { return room }
        preconditionFailure("every room is built with the application, in this file")
    }

    /// The rows of what each store sells; of no room, since who only reads builds none.
    public static let storeRows: [any StoreRows] = [
        AppStoreRows(), StripeRows(), GooglePlayRows(),
    ]
}
