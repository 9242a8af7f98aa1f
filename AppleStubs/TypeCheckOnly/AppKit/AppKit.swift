// Stand-in for AppKit: only what the SDK uses on macOS.
@_exported import Foundation

open class NSWorkspace {
    nonisolated(unsafe) private static let _shared = NSWorkspace()
    open class var shared: NSWorkspace { _shared }
    @discardableResult open func open(_ url: URL) -> Bool { true }
}

@MainActor open class NSApplication {
    public static let didBecomeActiveNotification = Notification.Name(
        "NSApplicationDidBecomeActiveNotification"
    )
}
