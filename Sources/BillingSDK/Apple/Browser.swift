#if os(iOS) || os(macOS) || BILLING_APPLE_STUBS
    import Foundation
    #if os(macOS)
        import AppKit
    #else
        import UIKit
    #endif

    /// The system's browser.
    enum Browser {
        @MainActor static func open(_ page: URL) async {
            #if os(macOS)
                NSWorkspace.shared.open(page)
            #else
                await UIApplication.shared.open(page)
            #endif
        }
    }
#endif
