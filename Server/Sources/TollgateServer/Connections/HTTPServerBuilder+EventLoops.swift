internal import AcceptedConnections
public import HummingbirdCore
public import TollgateService

extension HTTPServerBuilder {
    /// HTTP/1.1 whose connections are each served on the event loop that they belong to.
    ///
    /// What may block must leave it: the database drivers have threads of their own for that. Clients
    /// that are too slow or say too much are sent away.
    ///
    /// - Parameter answersAtOnce: whether the commonest requests are answered without the router.
    public static func http1OnEventLoops(
        _ tollgate: Tollgate,
        limits: ConnectionLimits = ConnectionLimits(),
        answersAtOnce: Bool = true
    ) -> HTTPServerBuilder {
        let open = OpenConnections(limits, tollgate)
        return HTTPServerBuilder { responder in
            AcceptingChannel(
                EventLoopChannel(
                    responder: responder,
                    tollgate: tollgate,
                    limits: limits,
                    open: open,
                    answersAtOnce: answersAtOnce
                )
            )
        }
    }
}
