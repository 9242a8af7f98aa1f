extension AppStoreRecord {
    /// The coins of an App Store period, once per period whatever its transaction ids.
    func credit(
        _ record: PeriodRecord,
        to owner: HolderNames,
        in history: CatalogHistory,
        _ evaluation: inout Evaluation
    ) {
        let period = record.period
        let product = StoreProduct(.appStore, period.product)
        guard !period.isFamilyShared, let known = history.product(product, at: period.start),
            let credit = CoinLot.coins(known.coins, times: period.quantity), credit > 0
        else { return }
        var clawed: Int64 = 0
        if revocation(of: record) != nil, period.isSwitched != true {
            clawed = CoinLot.share(credit, period.revokedShare ?? Self.whole, of: Self.whole)
        } else if let seats = period.revokedSeats {
            clawed = CoinLot.share(credit, seats, of: period.quantity)
        }
        evaluation.lots.append(
            CoinLot(
                id: period.id,
                owner: owner,
                credit: credit,
                clawed: clawed,
                credited: period.start
            )
        )
    }

    /// 100 % in Apple's thousandths of a percent.
    private static let whole: Int64 = 100_000
}
