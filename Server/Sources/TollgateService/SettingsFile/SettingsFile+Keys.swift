extension SettingsFile {
    /// A key of the file, and the setting that it is.
    indirect enum Key: Sendable {
        case one(String)
        case many(String)
        case truth(String)
        case number(String)
        case block([String: Key])
    }

    /// The settings whose values are secrets.
    package static let secretNames: Set<String> = [
        "SECRET_KEY", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRETS", "APP_STORE_SHARED_SECRET",
        "OIDC_CLIENT_SECRET",
        // Whoever knows the address of a chat may write there.
        "ALERTS_WEBHOOK", "ALERTS_SECRET", "ALERTS_EMAIL_PASSWORD", "EMAILS_PASSWORD",
        // The key of a hosted collector.
        "TRACES_HEADERS",
    ]

    static let keys: [String: Key] = [
        "listen": .one("LISTEN"),
        "metrics_listen": .one("METRICS_LISTEN"),
        "database": .one("DATABASE"),
        "backups": .one("BACKUPS"),
        "catalog": .one("CATALOG"),
        "public_url": .one("PUBLIC_URL"),
        "client_address_header": .one("CLIENT_ADDRESS_HEADER"),
        "connections_per_address": .number("CONNECTIONS_PER_ADDRESS"),
        "server": .one("SERVER"),
        "demo": .truth("DEMO"),
        "app_url": .one("APP_URL"),
        "portal_return_url": .one("PORTAL_RETURN_URL"),
        "apple_app_ids": .many("APPLE_APP_IDS"),
        "log_level": .one("LOG_LEVEL"),
        "clock": .one("CLOCK"),
        "keys": .block([
            "secret": .many("SECRET_KEY"),
            "publishable": .many("PUBLISHABLE_KEY"),
        ]),
        "alerts": .block([
            "webhook": .one("ALERTS_WEBHOOK"),
            "secret": .one("ALERTS_SECRET"),
            "after": .block([
                "question": .one("ALERTS_AFTER_QUESTION"),
                "silence": .one("ALERTS_AFTER_SILENCE"),
                "webhook": .one("ALERTS_AFTER_WEBHOOK"),
            ]),
            "before": .block([
                "deadline": .one("ALERTS_BEFORE_DEADLINE"),
                "expiry": .one("ALERTS_BEFORE_EXPIRY"),
            ]),
            "disk_percent": .number("ALERTS_DISK_PERCENT"),
            "refund_percent": .number("ALERTS_REFUND_PERCENT"),
            "churn_percent": .number("ALERTS_CHURN_PERCENT"),
            "email": .block([
                "host": .one("ALERTS_EMAIL_HOST"),
                "port": .number("ALERTS_EMAIL_PORT"),
                "tls": .one("ALERTS_EMAIL_TLS"),
                "username": .one("ALERTS_EMAIL_USERNAME"),
                "password": .one("ALERTS_EMAIL_PASSWORD"),
                "from": .one("ALERTS_EMAIL_FROM"),
                "to": .many("ALERTS_EMAIL_TO"),
                "ca_file": .one("ALERTS_EMAIL_CA_FILE"),
            ]),
            "quiet_hours": .block([
                "from": .one("ALERTS_QUIET_FROM"),
                "to": .one("ALERTS_QUIET_TO"),
                "time_zone": .one("ALERTS_QUIET_TIME_ZONE"),
            ]),
        ]),
        "emails": .block(emails),
        "traces": .block([
            "endpoint": .one("TRACES_ENDPOINT"),
            "headers": .many("TRACES_HEADERS"),
            "sample_ratio": .one("TRACES_SAMPLE_RATIO"),
        ]),
        "webhooks": .block(["allow_private": .truth("WEBHOOKS_ALLOW_PRIVATE")]),
        "app_store": .block(appStore),
        "stripe": .block([
            "secret_key": .one("STRIPE_SECRET_KEY"),
            "webhook_secrets": .many("STRIPE_WEBHOOK_SECRETS"),
            "api_base": .one("STRIPE_API_BASE"),
        ]),
        "google_play": .block(googlePlay),
        "open_id": .block([
            "issuer": .one("OIDC_ISSUER"),
            "client_id": .one("OIDC_CLIENT_ID"),
            "client_secret": .one("OIDC_CLIENT_SECRET"),
            "name": .one("OIDC_NAME"),
            "domain": .one("OIDC_DOMAIN"),
        ]),
    ]

    private static let emails: [String: Key] = [
        "receipt": .truth("EMAILS_RECEIPT"),
        "payment_failed": .truth("EMAILS_PAYMENT_FAILED"),
        "trial_ends": .truth("EMAILS_TRIAL_ENDS"),
        "lapsed": .truth("EMAILS_LAPSED"),
        "from": .one("EMAILS_FROM"),
        "from_name": .one("EMAILS_FROM_NAME"),
        "reply_to": .one("EMAILS_REPLY_TO"),
        "host": .one("EMAILS_HOST"),
        "port": .number("EMAILS_PORT"),
        "tls": .one("EMAILS_TLS"),
        "username": .one("EMAILS_USERNAME"),
        "password": .one("EMAILS_PASSWORD"),
        "ca_file": .one("EMAILS_CA_FILE"),
        "language": .one("EMAILS_LANGUAGE"),
        "templates": .one("EMAILS_TEMPLATES"),
        "account_url": .one("EMAILS_ACCOUNT_URL"),
        "sandbox": .truth("EMAILS_SANDBOX"),
    ]

    private static let appStore: [String: Key] = [
        "roots": .many("APP_STORE_ROOTS"),
        "bundle_id": .one("APP_STORE_BUNDLE_ID"),
        "app_apple_id": .number("APP_STORE_APP_APPLE_ID"),
        "environments": .many("APP_STORE_ENVIRONMENT"),
        "key": .block([
            "issuer_id": .one("APP_STORE_ISSUER_ID"),
            "key_id": .one("APP_STORE_KEY_ID"),
            "file": .one("APP_STORE_KEY_FILE"),
        ]),
        "shared_secret": .one("APP_STORE_SHARED_SECRET"),
        "online_checks": .truth("APP_STORE_ONLINE_CHECKS"),
        "small_business": .truth("APP_STORE_SMALL_BUSINESS"),
        "xcode_certificate_file": .one("APP_STORE_XCODE_CERTIFICATE_FILE"),
        "retention_messages": .one("RETENTION_MESSAGES"),
        "base_url": .one("APP_STORE_BASE_URL"),
        "reports": .block([
            "issuer_id": .one("CONNECT_ISSUER_ID"),
            "key_id": .one("CONNECT_KEY_ID"),
            "file": .one("CONNECT_KEY_FILE"),
            "vendor_number": .one("CONNECT_VENDOR_NUMBER"),
            "base_url": .one("CONNECT_BASE_URL"),
        ]),
    ]

    private static let googlePlay: [String: Key] = [
        "service_account_file": .one("GOOGLE_PLAY_SERVICE_ACCOUNT_FILE"),
        "package_names": .many("GOOGLE_PLAY_PACKAGE_NAME"),
        "subscription": .one("GOOGLE_PLAY_SUBSCRIPTION"),
        "push": .block([
            "audience": .one("GOOGLE_PLAY_PUSH_AUDIENCE"),
            "email": .one("GOOGLE_PLAY_PUSH_EMAIL"),
        ]),
        "license_keys": .many("GOOGLE_PLAY_LICENSE_KEY"),
        "bucket": .one("GOOGLE_PLAY_BUCKET"),
        "api_base": .one("GOOGLE_PLAY_API_BASE"),
        "pubsub_base": .one("GOOGLE_PLAY_PUBSUB_BASE"),
        "certs_url": .one("GOOGLE_PLAY_CERTS_URL"),
    ]
}
