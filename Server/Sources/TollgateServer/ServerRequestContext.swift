public import Hummingbird
internal import NIOCore

/// What a request carries through the middleware.
public struct ServerRequestContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// From where the connection comes; `nil` where there is none, as in a test.
    let remoteAddress: SocketAddress?

    public init(source: Source) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
