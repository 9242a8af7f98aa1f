// Stand-in for Flutter's framework on iOS, as far as docs/flutter.md uses it: declarations only, never run.
// Its Objective-C header brings Foundation along. https://api.flutter.dev/ios-embedder/protocol_flutter_plugin-p.html
@_exported import Foundation

public protocol FlutterBinaryMessenger: AnyObject {}

public protocol FlutterPluginRegistrar: AnyObject {
    func messenger() -> any FlutterBinaryMessenger
    func addMethodCallDelegate(_ delegate: any FlutterPlugin, channel: FlutterMethodChannel)
}

public protocol FlutterPlugin: AnyObject {
    static func register(with registrar: any FlutterPluginRegistrar)
}

open class FlutterMethodCall {
    public var method: String { "" }
    public var arguments: Any? { nil }
}

open class FlutterMethodChannel {
    public init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger) {}
}

open class FlutterError {
    public init(code: String, message: String?, details: Any?) {}
}

public typealias FlutterResult = (Any?) -> Void
nonisolated(unsafe) public let FlutterMethodNotImplemented = NSObject()
