internal import StrictJSON
public import Foundation

/// The Retention Messaging API
/// (<https://developer.apple.com/documentation/retentionmessaging>), asked with the same key and
/// at the same hosts as the App Store Server API.
extension AppStore.ServerAPIClient {
    // MARK: - Images

    /// Upload Image: a PNG without transparency, 3840 pixels wide and 160 to 2160 high; for a bullet
    /// point 1024 by 1024.
    ///
    /// Not idempotent: an identifier that exists is refused with 4090000.
    public func uploadImage(
        _ imageIdentifier: UUID,
        png: [UInt8],
        size: AppStore.ImageSize = .fullSize
    ) async throws(AppStore.ServerAPIError) {
        var call = Call(
            operation: "Upload Image",
            method: "PUT",
            path: Call.image(imageIdentifier),
            query: [("imageSize", size.rawValue)]
        )
        call.png = png
        try await sender.send(call)
    }

    /// Delete Image; refused with 4030019 while a message has it.
    public func deleteImage(_ imageIdentifier: UUID) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(operation: "Delete Image", method: "DELETE", path: Call.image(imageIdentifier))
        )
    }

    /// Get Image List: all images and whether they are approved.
    public func imageList() async throws(AppStore.ServerAPIError) -> [AppStore.RetentionImage] {
        let call = Call(operation: "Get Image List", path: "\(Call.messaging)/image/list")
        return try await sender.send(call) { fields throws(AppStore.VerificationError) in
            try fields.objects("imageIdentifiers", AppStore.RetentionImage.init)
        }
    }

    // MARK: - Messages

    /// Upload Message.
    ///
    /// Not idempotent: an identifier that exists is refused with 4090001.
    public func uploadMessage(
        _ messageIdentifier: UUID,
        _ message: AppStore.RetentionMessage
    ) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                operation: "Upload Message",
                method: "PUT",
                path: Call.message(messageIdentifier),
                body: message.json
            )
        )
    }

    /// Delete Message.
    public func deleteMessage(_ messageIdentifier: UUID) async throws(AppStore.ServerAPIError) {
        let path = Call.message(messageIdentifier)
        try await sender.send(Call(operation: "Delete Message", method: "DELETE", path: path))
    }

    /// Get Message List: all messages and whether they are approved.
    public func messageList()
        async throws(AppStore.ServerAPIError) -> [AppStore.UploadedRetentionMessage]
    {
        let call = Call(operation: "Get Message List", path: "\(Call.messaging)/message/list")
        return try await sender.send(call) { fields throws(AppStore.VerificationError) in
            try fields.objects("messageIdentifiers", AppStore.UploadedRetentionMessage.init)
        }
    }

    // MARK: - Default messages

    /// Configure Default Message: what is shown for a product in a language where no realtime reply
    /// decides.
    public func configureDefaultMessage(
        _ messageIdentifier: UUID,
        productID: String,
        locale: String
    ) async throws(AppStore.ServerAPIError) {
        let operation = "Configure Default Message"
        let message = messageIdentifier.uuidString.lowercased()
        try await sender.send(
            Call(
                operation: operation,
                method: "PUT",
                path: try Call.defaultMessage(productID, locale, operation),
                body: .object([("messageIdentifier", .string(message))])
            )
        )
    }

    /// Get Default Message; refused with 4040020 where there is none.
    public func defaultMessage(
        productID: String,
        locale: String
    ) async throws(AppStore.ServerAPIError) -> UUID? {
        let operation = "Get Default Message"
        let path = try Call.defaultMessage(productID, locale, operation)
        return try await sender.send(Call(operation: operation, path: path)) {
            fields throws(AppStore.VerificationError) in
            try fields.uuid("messageIdentifier")
        }
    }

    /// Delete Default Message; succeeds where there is none, too.
    public func deleteDefaultMessage(
        productID: String,
        locale: String
    ) async throws(AppStore.ServerAPIError) {
        let operation = "Delete Default Message"
        let path = try Call.defaultMessage(productID, locale, operation)
        try await sender.send(Call(operation: operation, method: "DELETE", path: path))
    }

    // MARK: - The realtime URL

    /// Configure Realtime URL: begins with `https://`, at most 256 characters.
    ///
    /// Production takes one once a performance test has passed (else 4030026).
    public func configureRealtimeURL(_ url: String) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                operation: "Configure Realtime URL",
                method: "PUT",
                path: Call.realtimeURL,
                body: .object([("realtimeURL", .string(url))])
            )
        )
    }

    /// Get Realtime URL; refused with 4040021 where there is none.
    public func realtimeURL() async throws(AppStore.ServerAPIError) -> String {
        let call = Call(operation: "Get Realtime URL", path: Call.realtimeURL)
        return try await sender.send(call, reading: "realtimeURL")
    }

    /// Delete Realtime URL.
    public func deleteRealtimeURL() async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(operation: "Delete Realtime URL", method: "DELETE", path: Call.realtimeURL)
        )
    }

    // MARK: - The performance test

    /// Initiate Performance Test of the realtime URL; in the sandbox only.
    public func initiatePerformanceTest(
        originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.PerformanceTest {
        let call = Call(
            operation: "Initiate Performance Test",
            method: "POST",
            path: "\(Call.messaging)/performanceTest",
            body: .object([("originalTransactionId", .string(originalTransactionID))])
        )
        return try await sender.send(call, AppStore.PerformanceTest.init)
    }

    /// Get Performance Test Results.
    public func performanceTestResult(
        _ requestID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.PerformanceTestResult {
        let operation = "Get Performance Test Results"
        let path = try Call.path(requestID, in: operation)
        return try await sender.send(
            Call(operation: operation, path: "\(Call.messaging)/performanceTest/result/\(path)"),
            AppStore.PerformanceTestResult.init
        )
    }
}

extension AppStore.ServerAPIClient.Call {
    fileprivate static let messaging = "/inApps/v1/messaging"
    fileprivate static let realtimeURL = "\(messaging)/realtime/url"

    fileprivate static func image(_ identifier: UUID) -> String {
        "\(messaging)/image/\(identifier.uuidString.lowercased())"
    }

    fileprivate static func message(_ identifier: UUID) -> String {
        "\(messaging)/message/\(identifier.uuidString.lowercased())"
    }

    fileprivate static func defaultMessage(
        _ productID: String,
        _ locale: String,
        _ operation: String
    ) throws(AppStore.ServerAPIError) -> String {
        let product = try path(productID, in: operation)
        return "\(messaging)/default/\(product)/\(try path(locale, in: operation))"
    }
}
