public import HummingbirdCore
public import NIOCore
internal import NIOHTTPTypes

/// A connection on its way from the listening socket to whoever answers its requests.
///
/// A server that is ending does not take those that it has just accepted, and NIO ends the whole
/// process if an asynchronous channel is let go while its connection is open. So the connection
/// holds on to its channel until it is closed, and one that nobody takes is closed.
public final class AcceptedConnection: ServerChildChannelValue {
    let asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The socket's.
    public var channel: any Channel { asyncChannel.channel }

    init(_ asyncChannel: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>) {
        self.asyncChannel = asyncChannel
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(asyncChannel) {} }
    }

    deinit {
        channel.close(promise: nil)
    }
}
