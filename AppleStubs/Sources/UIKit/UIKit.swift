// Minimal stand-in for UIKit, mirroring the documented public declarations the SDK uses.
@_exported import Foundation
#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#endif

// A plain root class: corelibs' NSObject.init is nonisolated and cannot be overridden by a @MainActor one.
@MainActor open class UIResponder { public init() {} }

public enum UIModalPresentationStyle: Int, Sendable {
    case fullScreen = 0, pageSheet = 1, formSheet = 2, automatic = -2
}

@MainActor open class UIView: UIResponder {}

@MainActor open class UIViewController: UIResponder {
    public init(nibName: String?, bundle: Bundle?) { super.init() }
    public override convenience init() { self.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { super.init() }

    open var view: UIView! = UIView()
    open var title: String?
    open var modalPresentationStyle: UIModalPresentationStyle = .automatic
    open private(set) lazy var presentationController: UIPresentationController? =
        UIPresentationController(_presenting: self)
    open private(set) var presentedViewController: UIViewController?
    open private(set) weak var presentingViewController: UIViewController?

    open func viewDidLoad() {}
    open func viewWillAppear(_ animated: Bool) {}
    open func viewDidAppear(_ animated: Bool) {}

    open func present(
        _ viewControllerToPresent: UIViewController,
        animated flag: Bool,
        completion: (() -> Void)? = nil
    ) {
        presentedViewController = viewControllerToPresent
        viewControllerToPresent.presentingViewController = self
        completion?()
    }
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        presentedViewController = nil
        completion?()
    }
}

@MainActor public protocol UIAdaptivePresentationControllerDelegate: NSObjectProtocol {
    func presentationControllerDidDismiss(_ presentationController: UIPresentationController)
}
extension UIAdaptivePresentationControllerDelegate {
    public func presentationControllerDidDismiss(_ presentationController: UIPresentationController)
    {}
}

@MainActor open class UIPresentationController: UIResponder {
    open weak var delegate: (any UIAdaptivePresentationControllerDelegate)?
    open private(set) unowned var presentedViewController: UIViewController
    init(_presenting controller: UIViewController) {
        presentedViewController = controller
        super.init()
    }
}

public enum UIAccessibility {
    public struct Notification: Hashable, RawRepresentable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let announcement = Notification(rawValue: 1008)
    }
    // Stub-only: what was said.
    @MainActor public static var _announcements: [String] = []
    @MainActor public static func post(notification: Notification, argument: Any?) {
        if notification == .announcement, let text = argument as? String {
            _announcements.append(text)
        }
    }
}

@MainActor open class UIScene: UIResponder {}
@MainActor open class UIWindowScene: UIScene {}

@MainActor open class UIApplication: UIResponder {
    public struct OpenExternalURLOptionsKey: Hashable, RawRepresentable, @unchecked Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let universalLinksOnly = OpenExternalURLOptionsKey(
            rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly"
        )
    }

    nonisolated public static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification"
    )
    nonisolated public static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification"
    )

    private static let _shared = UIApplication()
    open class var shared: UIApplication { _shared }

    // Stub-only: what tests look at.
    public var _openedURLs: [URL] = []

    open func canOpenURL(_ url: URL) -> Bool { true }
    open func open(
        _ url: URL,
        options: [UIApplication.OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        _openedURLs.append(url)
        completion?(true)
    }
    @discardableResult
    open func open(_ url: URL, options: [UIApplication.OpenExternalURLOptionsKey: Any] = [:]) async
        -> Bool
    {
        _openedURLs.append(url)
        return true
    }
}
