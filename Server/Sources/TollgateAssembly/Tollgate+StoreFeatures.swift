internal import AppStoreConnector
internal import GooglePlayConnector
public import Storage
public import Stores
internal import StripeConnector
public import TollgateCore
public import TollgateService

/// The features that name a store: each is handed what it needs of that store's room.
extension Tollgate {
    public var explanations: Explanations {
        Explanations(
            records: store,
            clocks: clocks,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var externalTransactions: ExternalTransactions {
        ExternalTransactions(
            records: store,
            payments: { [stripe] in stripe.externalPayments(of: $0, includedTax: $1) },
            tell: { [googlePlay] in try await googlePlay.report($0, in: $1) }
        )
    }

    package var deviceObservations: DeviceObservations {
        DeviceObservations(
            records: store,
            clocks: clocks,
            observe: { [appStore] in try await appStore.devices.observe($0, from: $1) },
            limit: callLimits.observations,
            counters: counters
        )
    }
}

extension Explanations {
    /// Explanations of a command that only reads: it builds no room.
    public init(records: RecordStore, clocks: Clocks, defaultEnvironment: StoreEnvironment) {
        self.init(
            records: records,
            clocks: clocks,
            defaultEnvironment: defaultEnvironment,
            opinion: { try await records.stripeOpinion(on: $0, of: $1, in: $2) }
        )
    }
}
