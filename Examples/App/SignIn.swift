import Foundation

#if canImport(Security)
    import Security
#endif

/// A sign-in: the customer's name, and the backend's token for it.
struct SignIn: Codable, Equatable, Sendable {
    var name: String
    var token: String
}

/// Where a sign-in outlives the app.
protocol SignInKeeping: Sendable {
    /// The last sign-in; nil only where there is none.
    ///
    /// - Throws: where it cannot be read now, as before the device's first unlock.
    func kept() throws -> SignIn?

    /// Keeps a sign-in in place of the last one; nil removes it.
    func keep(_ signIn: SignIn?) throws
}

#if canImport(Security)
    /// The keychain of this device.
    ///
    /// It can be read after the first unlock, so the app also works when the system starts it in the
    /// background. It is in no backup: another device signs in by itself. It outlives deleting the app.
    /// On a Mac the data protection keychain needs the entitlement for keychain access groups.
    struct Keychain: SignInKeeping {
        let service: String

        struct Refused: Error { let status: OSStatus }

        private var item: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service,
                kSecUseDataProtectionKeychain: true,
            ]
        }

        func kept() throws -> SignIn? {
            var query = item
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else {
                throw Refused(status: status)
            }
            // An older version of the app kept it in another form: the customer signs in again.
            return try? JSONDecoder().decode(SignIn.self, from: data)
        }

        func keep(_ signIn: SignIn?) throws {
            guard let signIn else {
                let status = SecItemDelete(item as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw Refused(status: status)
                }
                return
            }
            let values: [CFString: Any] = [
                kSecValueData: try JSONEncoder().encode(signIn),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                let added = item.merging(values) { $1 }
                status = SecItemAdd(added as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Refused(status: status) }
        }
    }
#else
    /// Where there is no keychain, nothing outlives the app.
    struct Keychain: SignInKeeping {
        let service: String

        func kept() -> SignIn? { nil }

        func keep(_: SignIn?) {}
    }
#endif
