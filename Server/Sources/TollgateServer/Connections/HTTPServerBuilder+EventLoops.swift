internal import AcceptedConnections
public import HummingbirdCore
public import TollgateService

extension HTTPServerBuilder {
    /// HTTP/1.1 whose connections are each served on the event loop that they belong to.
    ///
    /// What may block must leave it: the database drivers have threads of their own for that. Clients
    /// that are too slow or say too much are sent away.
    public static func http1OnEventLoops(
        _ tollgate: Tollgate,
        limits: ConnectionLimits = ConnectionLimits()
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            AcceptingChannel(
                EventLoopChannel(responder: responder, tollgate: tollgate, limits: limits)
            )
        }
    }
}
