// Stand-in for Security: what the sample app uses of the keychain, declarations only, never run.
// Linux has no Core Foundation, so its types stand in for what Swift on Apple's systems bridges.
// https://developer.apple.com/documentation/security/keychain-services

public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300

public let kSecClass = "", kSecClassGenericPassword = ""
public let kSecAttrService = "", kSecAttrAccessible = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = ""
@available(iOS 13, macOS 10.15, *)
public let kSecUseDataProtectionKeychain = ""
public let kSecReturnData = "", kSecValueData = ""

public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { errSecItemNotFound }
public func SecItemAdd(
    _ attributes: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { errSecSuccess }
public func SecItemUpdate(
    _ query: CFDictionary,
    _ attributesToUpdate: CFDictionary
) -> OSStatus { errSecSuccess }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { errSecSuccess }
