import Testing
import TollgateService

/// `tollgate.yaml`, as it is read.
@Suite struct SettingsFileTests {
    private func read(_ text: String) throws -> SettingsFile {
        try SettingsFile.read(bytes: Array(text.utf8), file: "tollgate.yaml")
    }

    @Test func valuesHaveTheNamesOfTheirVariables() throws {
        let file = try read(
            """
            public_url: https://billing.example.com
            app_store:
              app_apple_id: 1234567890
              small_business: true
              key: {issuer_id: 57246542, key_id: ABC123, file: AuthKey.p8}
            stripe:
              webhook_secrets: [whsec_new, {env: OLD}]
              secret_key: {credential: stripe}
            google_play:
              package_names: com.example.app
            """
        )
        let expected: [String: [SettingsFile.Source]] = [
            "PUBLIC_URL": [.text("https://billing.example.com")],
            "APP_STORE_APP_APPLE_ID": [.text("1234567890")],
            "APP_STORE_SMALL_BUSINESS": [.text("true")],
            "APP_STORE_ISSUER_ID": [.text("57246542")],
            "APP_STORE_KEY_ID": [.text("ABC123")],
            "APP_STORE_KEY_FILE": [.text("AuthKey.p8")],
            "STRIPE_WEBHOOK_SECRETS": [.text("whsec_new"), .variable("OLD")],
            "STRIPE_SECRET_KEY": [.credential("stripe")],
            "GOOGLE_PLAY_PACKAGE_NAME": [.text("com.example.app")],
        ]
        let found = file.values.mapValues { $0.map(\.source) }
        #expect(found == expected)
    }

    @Test func aValueKnowsItsPlace() throws {
        let file = try read("keys:\n  secret: [{file: secret.txt}]\n")
        let value = try #require(file.values["SECRET_KEY"]?.first)
        #expect(value.source == .file("secret.txt"))
        #expect(value.line == 2)
        #expect(value.column == 12)
    }

    @Test func allMistakesAreReportedAtOnceInTheOrderOfTheFile() throws {
        let errors = #expect(throws: CatalogErrors.self) {
            try read("listn: x\ndemo: perhaps\nstripe: {secret_key: [a, b]}\n")
        }
        let found = try #require(errors).errors
        #expect(found.map(\.line) == [1, 2, 3])
        #expect(found.map(\.column) == [1, 7, 22])
        #expect(found[0].message.contains("did you mean ‘listen’?"))
    }

    @Test func noMessageRepeatsWhatMayBeASecret() throws {
        let errors = #expect(throws: CatalogErrors.self) {
            try read(
                """
                keys: {sk_live_0123abcd}
                demo: whsec_abcd
                stripe: {webhook_secrets: {whsec_0123}}
                """
            )
        }
        let found = try #require(errors).errors
        #expect(found.map(\.line) == [1, 2, 3])
        for error in found {
            #expect(!error.message.contains("sk_live"), "\(error.message)")
            #expect(!error.message.contains("whsec"), "\(error.message)")
        }
    }

    @Test func anEmptyFileSaysHowToMakeOne() {
        let errors = #expect(throws: CatalogErrors.self) { try read("# nothing\n") }
        #expect(errors?.errors.first?.message.contains("tollgate config init") == true)
    }
}
