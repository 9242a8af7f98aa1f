#if canImport(SwiftUI)
    import Foundation
    #if os(iOS) || BILLING_APPLE_STUBS
        import UIKit
    #endif

    /// What VoiceOver says although the focus is elsewhere.
    enum Announcement {
        /// Says `text` where VoiceOver runs; on macOS it reads the changed text when it gets there.
        @MainActor static func post(_ text: String) {
            #if os(iOS) || BILLING_APPLE_STUBS
                UIAccessibility.post(notification: .announcement, argument: text)
            #endif
        }
    }
#endif
