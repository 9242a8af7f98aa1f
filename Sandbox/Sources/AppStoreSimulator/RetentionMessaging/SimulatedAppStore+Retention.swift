import Foundation

/// The Retention Messaging API: images, messages, default messages and the realtime URL
/// (<https://developer.apple.com/documentation/retentionmessaging>).
extension SimulatedAppStore {
    /// The most images, and the most messages, that an app may have.
    private static let mostUploads = 2000

    var retention: Retention {
        get { world.retention ?? Retention() }
        set { world.retention = newValue }
    }

    /// Apple approves by itself in the sandbox, and by people in production.
    private var stateOfUploads: Retention.State {
        environment == .sandbox ? .approved : .pending
    }

    // MARK: - Images

    func uploadImage(_ id: String, _ bytes: Data, size: String?) throws(APIError) {
        let id = try Self.identifier(id)
        guard let size = Retention.ImageSize(rawValue: size ?? "FULL_SIZE") else {
            throw .badRequestImageSize
        }
        guard let file = PNGFile(bytes), file.isOpaque, Self.fits(file, size) else {
            throw .invalidImage
        }
        guard retention.image(id) == nil else { throw .imageAlreadyExists }
        guard retention.images.count < Self.mostUploads else {
            throw .maximumNumberOfImagesReached
        }
        retention.images.append(.init(id: id, size: size, state: stateOfUploads))
        save()
    }

    /// <https://developer.apple.com/documentation/retentionmessaging/upload-image>.
    private static func fits(_ file: PNGFile, _ size: Retention.ImageSize) -> Bool {
        switch size {
        case .fullSize: file.width == 3840 && (160...2160).contains(file.height)
        case .bulletPoint: file.width == 1024 && file.height == 1024
        }
    }

    func deleteImage(_ id: String) throws(APIError) {
        let id = try Self.identifier(id)
        guard retention.image(id) != nil else { throw .imageNotFound }
        guard !retention.messages.contains(where: { $0.content.imageIDs.contains(id) }) else {
            throw .imageInUse
        }
        retention.images.removeAll { $0.id == id }
        save()
    }

    func imageList() -> ImageListResponse {
        ImageListResponse(
            imageIdentifiers: retention.images.map {
                .init(
                    imageIdentifier: $0.id,
                    imageState: $0.state.rawValue,
                    imageSize: $0.size.rawValue
                )
            }
        )
    }

    // MARK: - Messages

    func uploadMessage(_ id: String, _ content: RetentionMessageContent) throws(APIError) {
        let id = try Self.identifier(id)
        try content.check()
        if let image = content.image {
            try requireImage(image.imageIdentifier, .fullSize)
        }
        for point in content.bulletPoints ?? [] {
            try requireImage(point.imageIdentifier, .bulletPoint)
        }
        guard retention.message(id) == nil else { throw .messageAlreadyExists }
        guard retention.messages.count < Self.mostUploads else {
            throw .maximumNumberOfMessagesReached
        }
        retention.messages.append(.init(id: id, content: content, state: stateOfUploads))
        save()
    }

    /// What Apple answers to a message with an image that was never uploaded is not documented.
    private func requireImage(_ id: String, _ size: Retention.ImageSize) throws(APIError) {
        guard let image = retention.image(id.lowercased()) else { throw .imageNotFound }
        guard image.size == size else { throw .badRequestImageSize }
    }

    /// Deletes a message, and default messages with it: what Apple does with those is not
    /// documented.
    func deleteMessage(_ id: String) throws(APIError) {
        let id = try Self.identifier(id)
        guard retention.message(id) != nil else { throw .messageNotFound }
        retention.messages.removeAll { $0.id == id }
        retention.defaults = retention.defaults.filter { $0.value != id }
        save()
    }

    func messageList() -> MessageListResponse {
        MessageListResponse(
            messageIdentifiers: retention.messages.map {
                .init(messageIdentifier: $0.id, messageState: $0.state.rawValue)
            }
        )
    }

    // MARK: - Default messages

    func setDefaultMessage(
        _ request: DefaultMessage,
        product: String,
        locale: String
    ) throws(APIError) {
        let place = try place(product, locale)
        guard let id = request.messageIdentifier?.lowercased(),
            let message = retention.message(id)
        else { throw .messageNotFound }
        guard message.state == .approved else { throw .messageNotApproved }
        guard retention.isApproved(message) else { throw .imageNotApproved }
        retention.defaults[place] = id
        save()
    }

    func defaultMessage(product: String, locale: String) throws(APIError) -> DefaultMessage {
        guard let id = retention.defaults[try place(product, locale)] else {
            throw .defaultMessageNotFound
        }
        return DefaultMessage(messageIdentifier: id)
    }

    /// Succeeds where there is none, too.
    func deleteDefaultMessage(product: String, locale: String) throws(APIError) {
        retention.defaults[try place(product, locale)] = nil
        save()
    }

    private func place(
        _ product: String,
        _ locale: String
    ) throws(APIError) -> Retention.Place {
        guard world.products[product]?.kind == .autoRenewable else {
            throw .parameter(4_000_023, "productId")
        }
        guard Self.locales.contains(locale) else { throw .invalidLocale }
        return Retention.Place(product: product, locale: locale)
    }

    // MARK: - The realtime URL

    func setRealtimeURL(_ url: String) throws(APIError) {
        guard Self.isRealtimeURL(url) else { throw .badRequestRealtimeURL }
        guard environment == .sandbox || retention.hasPassedTest else { throw .noPassingTest }
        retention.realtimeURL = url
        save()
    }

    /// At most 256 characters that begin with `https://`
    /// (<https://developer.apple.com/documentation/retentionmessaging/realtimeurl>); unlike Apple
    /// this takes HTTP on the same machine, where nobody has a certificate.
    private static func isRealtimeURL(_ text: String) -> Bool {
        guard text.count <= 256, let url = URL(string: text), let host = url.host(), !host.isEmpty
        else { return false }
        return text.hasPrefix("https://")
            || text.hasPrefix("http://") && ["127.0.0.1", "localhost", "::1"].contains(host)
    }

    func realtimeURL() throws(APIError) -> RealtimeURL {
        guard let url = retention.realtimeURL else { throw .realtimeURLNotFound }
        return RealtimeURL(realtimeURL: url)
    }

    func deleteRealtimeURL() throws(APIError) {
        guard retention.realtimeURL != nil else { throw .realtimeURLNotFound }
        retention.realtimeURL = nil
        save()
    }

    /// A UUID in lower case.
    private static func identifier(_ text: String) throws(APIError) -> String {
        guard UUID(uuidString: text) != nil else { throw .badRequest }
        return text.lowercased()
    }
}

// MARK: - What Apple's reviewers do

extension SimulatedAppStore {
    /// Approves or rejects an image.
    func reviewImage(_ id: String, _ state: Retention.State) throws(Refusal) {
        guard let index = retention.images.firstIndex(where: { $0.id == id.lowercased() }) else {
            throw .notFound("image \(id)")
        }
        retention.images[index].state = state
        save()
    }

    /// Approves or rejects a message.
    func reviewMessage(_ id: String, _ state: Retention.State) throws(Refusal) {
        guard let index = retention.messages.firstIndex(where: { $0.id == id.lowercased() })
        else { throw .notFound("message \(id)") }
        retention.messages[index].state = state
        save()
    }

    /// What a performance test in the sandbox, which is another process here, has come to.
    func passPerformanceTest() {
        retention.hasPassedTest = true
        save()
    }
}
