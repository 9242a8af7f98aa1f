/// The storefronts of the App Store.
enum Storefronts {
    /// The App Store's countries and regions by their storefront codes, which are those of
    /// ISO 3166-1 alpha-3, and XKS for Kosovo
    /// (<https://developer.apple.com/documentation/appstoreserverapi/storefrontcountrycode>,
    /// <https://developer.apple.com/help/app-store-connect/reference/app-store-pricing-and-availability-start-times-by-region>).
    static let codes: Set<String> = [
        "AFG", "ALB", "DZA", "AGO", "AIA", "ATG", "ARG", "ARM", "AUS", "AUT", "AZE", "BHS", "BHR",
        "BRB", "BLR", "BEL", "BLZ", "BEN", "BMU", "BTN", "BOL", "BIH", "BWA", "BRA", "VGB", "BRN",
        "BGR", "BFA", "KHM", "CMR", "CAN", "CPV", "CYM", "TCD", "CHL", "CHN", "COL", "COD", "COG",
        "CRI", "CIV", "HRV", "CYP", "CZE", "DNK", "DMA", "DOM", "ECU", "EGY", "SLV", "EST", "SWZ",
        "FJI", "FIN", "FRA", "GAB", "GMB", "GEO", "DEU", "GHA", "GRC", "GRD", "GTM", "GNB", "GUY",
        "HND", "HKG", "HUN", "ISL", "IND", "IDN", "IRQ", "IRL", "ISR", "ITA", "JAM", "JPN", "JOR",
        "KAZ", "KEN", "KOR", "XKS", "KWT", "KGZ", "LAO", "LVA", "LBN", "LBR", "LBY", "LTU", "LUX",
        "MAC", "MDG", "MWI", "MYS", "MDV", "MLI", "MLT", "MRT", "MUS", "MEX", "FSM", "MDA", "MNG",
        "MNE", "MSR", "MAR", "MOZ", "MMR", "NAM", "NRU", "NPL", "NLD", "NZL", "NIC", "NER", "NGA",
        "MKD", "NOR", "OMN", "PAK", "PLW", "PAN", "PNG", "PRY", "PER", "PHL", "POL", "PRT", "QAT",
        "ROU", "RUS", "RWA", "STP", "SAU", "SEN", "SRB", "SYC", "SLE", "SGP", "SVK", "SVN", "SLB",
        "ZAF", "ESP", "LKA", "KNA", "LCA", "VCT", "SUR", "SWE", "CHE", "TWN", "TJK", "TZA", "THA",
        "TON", "TTO", "TUN", "TUR", "TKM", "TCA", "UGA", "UKR", "ARE", "GBR", "USA", "URY", "UZB",
        "VUT", "VEN", "VNM", "YEM", "ZMB", "ZWE",
    ]
}
