import TollgateCore
import TollgateService

/// What is sold in simulated worlds.
enum SimulatedShop {
    /// Read as any catalog is, and written beside the scenario that a failure becomes.
    static let yaml = """
        # What simulated worlds sell.
        entitlements:
          - {lookup_key: pro, name: Pro features}
          - {lookup_key: archive, name: Back issues}
        products:
          - id: pro_weekly
            name: Pro, weekly
            kind: auto_renewable
            app_store_product_id: com.example.app.pro.weekly
            stripe_price_ids: [price_pro_weekly]
            entitlements: [pro]
            subscription_group: pro
            level: 2
            duration: P1W
            price: {amount: 399, currency: usd}
          - id: pro_monthly
            name: Pro, monthly
            kind: auto_renewable
            app_store_product_id: com.example.app.pro.monthly
            google_play_product_id: pro
            google_play_base_plans: [monthly]
            stripe_price_ids: [price_pro_monthly]
            entitlements: [pro]
            subscription_group: pro
            level: 2
            duration: P1M
            price: {amount: 999, currency: usd}
          - id: pro_yearly
            name: Pro, yearly
            kind: auto_renewable
            app_store_product_id: com.example.app.pro.yearly
            google_play_product_id: pro
            google_play_base_plans: [yearly]
            stripe_price_ids: [price_pro_yearly]
            entitlements: [pro, archive]
            coins: 50
            subscription_group: pro
            level: 1
            duration: P1Y
            price: {amount: 7999, currency: usd}
          - id: archive_monthly
            name: Back issues, monthly
            kind: auto_renewable
            app_store_product_id: com.example.app.archive.monthly
            stripe_price_ids: [price_archive_monthly]
            entitlements: [archive]
            subscription_group: archive
            level: 1
            duration: P1M
            price: {amount: 299, currency: usd}
          - id: coin_club
            name: Ten coins each month
            kind: auto_renewable
            app_store_product_id: com.example.app.club
            google_play_product_id: club
            google_play_base_plans: [monthly]
            stripe_price_ids: [price_coin_club]
            entitlements: [archive]
            coins: 10
            subscription_group: club
            level: 1
            duration: P1M
            price: {amount: 500, currency: usd}
          - id: studio_yearly
            name: Studio, yearly
            kind: auto_renewable
            app_store_product_id: com.example.app.studio.yearly
            entitlements: [archive]
            coins: 12
            subscription_group: studio
            level: 2
            duration: P1Y
            price: {amount: 2999, currency: usd}
          - id: studio_monthly
            name: Studio, monthly
            kind: auto_renewable
            app_store_product_id: com.example.app.studio.monthly
            entitlements: [archive]
            coins: 3
            subscription_group: studio
            level: 2
            duration: P1M
            price: {amount: 399, currency: usd}
          # An upgrade from the longer plans, so a change to it happens at once.
          - id: studio_weekly
            name: Studio, weekly
            kind: auto_renewable
            app_store_product_id: com.example.app.studio.weekly
            entitlements: [pro]
            coins: 2
            subscription_group: studio
            level: 1
            duration: P1W
            price: {amount: 299, currency: usd}
          - id: studio_plus_weekly
            name: Studio plus, weekly
            kind: auto_renewable
            app_store_product_id: com.example.app.studio.plus
            entitlements: [pro, archive]
            coins: 4
            subscription_group: studio
            level: 1
            duration: P1W
            price: {amount: 499, currency: usd}
          - id: team_monthly
            name: Team, monthly, by the seat
            kind: auto_renewable
            app_store_product_id: com.example.app.team
            entitlements: [pro]
            coins: 10
            subscription_group: team
            level: 1
            duration: P1M
            price: {amount: 999, currency: usd}
          - id: lifetime
            name: Pro for ever
            kind: non_consumable
            app_store_product_id: com.example.app.lifetime
            google_play_product_id: lifetime
            stripe_price_ids: [price_lifetime]
            entitlements: [pro, archive]
            price: {amount: 19900, currency: usd}
          - id: pass_30_days
            name: 30-day pass
            kind: non_renewing
            app_store_product_id: com.example.app.pass30
            stripe_price_ids: [price_pass_30_days]
            entitlements: [pro]
            duration: P30D
            while_active: extend
            price: {amount: 1299, currency: usd}
          - id: coins_100
            name: 100 coins
            kind: consumable
            app_store_product_id: com.example.app.coins100
            google_play_product_id: coins100
            stripe_price_ids: [price_coins_100]
            coins: 100
            price: {amount: 1000, currency: usd}
          - id: game
            name: A game that can be ordered ahead
            kind: non_consumable
            google_play_product_id: game
            entitlements: [archive]
            price: {amount: 2900, currency: usd}
          - id: coin_chest
            name: 300 coins that can be ordered ahead
            kind: consumable
            google_play_product_id: chest
            coins: 300
            price: {amount: 2500, currency: usd}
          - id: pro_prepaid
            name: Pro, a month paid ahead
            kind: auto_renewable
            google_play_product_id: pro
            google_play_base_plans: [prepaid]
            entitlements: [pro]
            subscription_group: pro
            level: 2
            duration: P1M
            price: {amount: 1099, currency: usd}
          - id: pro_installments
            name: Pro, three payments
            kind: auto_renewable
            google_play_product_id: pro
            google_play_base_plans: [installments]
            entitlements: [pro]
            subscription_group: pro
            level: 2
            duration: P1M
            price: {amount: 899, currency: usd}
        renewal_leeway: {app_store: 2h, stripe: 24h}
        past_due_grace: 3d
        ownership: keep

        """

    static func catalog() throws -> Catalog {
        try CatalogReader.read(yaml, file: "catalog.yaml")
    }

    /// What a family may share.
    static let shareable: Set<String> = [
        "pro_yearly", "pro_monthly", "lifetime", "studio_yearly", "studio_weekly",
    ]
    /// The products sold by the seat.
    static let multiseat: Set<String> = ["team_monthly"]
}
