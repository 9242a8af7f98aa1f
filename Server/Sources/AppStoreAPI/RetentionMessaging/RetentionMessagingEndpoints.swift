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
        var call = try Call(
            "Upload Image",
            Call.image,
            imageIdentifier.inPath,
            method: "PUT",
            query: [("imageSize", size.rawValue)]
        )
        call.png = png
        try await sender.send(call)
    }

    /// Delete Image; refused with 4030019 while a message has it.
    public func deleteImage(_ imageIdentifier: UUID) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call("Delete Image", Call.image, imageIdentifier.inPath, method: "DELETE")
        )
    }

    /// Get Image List: all images and whether they are approved.
    public func imageList() async throws(AppStore.ServerAPIError) -> [AppStore.RetentionImage] {
        let call = try Call("Get Image List", "\(Call.messaging)/image/list")
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
                "Upload Message",
                Call.message,
                messageIdentifier.inPath,
                method: "PUT",
                body: message.json
            )
        )
    }

    /// Delete Message.
    public func deleteMessage(_ messageIdentifier: UUID) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call("Delete Message", Call.message, messageIdentifier.inPath, method: "DELETE")
        )
    }

    /// Get Message List: all messages and whether they are approved.
    public func messageList()
        async throws(AppStore.ServerAPIError) -> [AppStore.UploadedRetentionMessage]
    {
        let call = try Call("Get Message List", "\(Call.messaging)/message/list")
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
        try await sender.send(
            Call(
                "Configure Default Message",
                Call.defaultMessage,
                productID,
                locale,
                method: "PUT",
                body: .object([("messageIdentifier", .string(messageIdentifier.inPath))])
            )
        )
    }

    /// Get Default Message; refused with 4040020 where there is none.
    public func defaultMessage(
        productID: String,
        locale: String
    ) async throws(AppStore.ServerAPIError) -> UUID? {
        let call = try Call("Get Default Message", Call.defaultMessage, productID, locale)
        return try await sender.send(call) {
            fields throws(AppStore.VerificationError) in
            try fields.uuid("messageIdentifier")
        }
    }

    /// Delete Default Message; succeeds where there is none, too.
    public func deleteDefaultMessage(
        productID: String,
        locale: String
    ) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call("Delete Default Message", Call.defaultMessage, productID, locale, method: "DELETE")
        )
    }

    // MARK: - The realtime URL

    /// Configure Realtime URL: begins with `https://`, at most 256 characters.
    ///
    /// Production takes one once a performance test has passed (else 4030026).
    public func configureRealtimeURL(_ url: String) async throws(AppStore.ServerAPIError) {
        try await sender.send(
            Call(
                "Configure Realtime URL",
                Call.realtimeURL,
                method: "PUT",
                body: .object([("realtimeURL", .string(url))])
            )
        )
    }

    /// Get Realtime URL; refused with 4040021 where there is none.
    public func realtimeURL() async throws(AppStore.ServerAPIError) -> String {
        let call = try Call("Get Realtime URL", Call.realtimeURL)
        return try await sender.send(call, reading: "realtimeURL")
    }

    /// Delete Realtime URL.
    public func deleteRealtimeURL() async throws(AppStore.ServerAPIError) {
        try await sender.send(Call("Delete Realtime URL", Call.realtimeURL, method: "DELETE"))
    }

    // MARK: - The performance test

    /// Initiate Performance Test of the realtime URL; in the sandbox only.
    public func initiatePerformanceTest(
        originalTransactionID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.PerformanceTest {
        let call = try Call(
            "Initiate Performance Test",
            "\(Call.messaging)/performanceTest",
            method: "POST",
            body: .object([("originalTransactionId", .string(originalTransactionID))])
        )
        return try await sender.send(call, AppStore.PerformanceTest.init)
    }

    /// Get Performance Test Results.
    public func performanceTestResult(
        _ requestID: String
    ) async throws(AppStore.ServerAPIError) -> AppStore.PerformanceTestResult {
        let path = "\(Call.messaging)/performanceTest/result/{}"
        let call = try Call("Get Performance Test Results", path, requestID)
        return try await sender.send(call, AppStore.PerformanceTestResult.init)
    }
}

extension AppStore.ServerAPIClient.Call {
    fileprivate static let messaging = "/inApps/v1/messaging"
    fileprivate static let realtimeURL = "\(messaging)/realtime/url"
    fileprivate static let image = "\(messaging)/image/{}"
    fileprivate static let message = "\(messaging)/message/{}"
    fileprivate static let defaultMessage = "\(messaging)/default/{}/{}"
}

extension UUID {
    fileprivate var inPath: String { uuidString.lowercased() }
}
