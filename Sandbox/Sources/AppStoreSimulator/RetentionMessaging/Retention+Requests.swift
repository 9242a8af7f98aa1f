import Foundation

/// The calls of the Retention Messaging API.
extension Retention {
    /// The most images, and the most messages, that an app may have.
    private static let mostUploads = 2000

    /// Apple approves by itself in the sandbox, and by people in production.
    private static func review(in environment: SimulatedAppStore.Environment) -> State {
        environment == .sandbox ? .approved : .pending
    }

    // MARK: - Images

    mutating func uploadImage(
        _ id: String,
        _ bytes: Data,
        size: String?,
        in environment: SimulatedAppStore.Environment
    ) throws(APIError) {
        let id = try Self.identifier(id)
        guard let size = ImageSize(rawValue: size ?? "FULL_SIZE") else {
            throw .badRequestImageSize
        }
        guard let file = PNGFile(bytes), file.isOpaque, Self.fits(file, size) else {
            throw .invalidImage
        }
        guard image(id) == nil else { throw .imageAlreadyExists }
        guard images.count < Self.mostUploads else {
            throw .maximumNumberOfImagesReached
        }
        images.append(.init(id: id, size: size, state: Self.review(in: environment)))
    }

    /// <https://developer.apple.com/documentation/retentionmessaging/upload-image>.
    private static func fits(_ file: PNGFile, _ size: ImageSize) -> Bool {
        switch size {
        case .fullSize: file.width == 3840 && (160...2160).contains(file.height)
        case .bulletPoint: file.width == 1024 && file.height == 1024
        }
    }

    mutating func deleteImage(_ id: String) throws(APIError) {
        let id = try Self.identifier(id)
        guard image(id) != nil else { throw .imageNotFound }
        guard !messages.contains(where: { $0.content.imageIDs.contains(id) }) else {
            throw .imageInUse
        }
        images.removeAll { $0.id == id }
    }

    var imageList: ImageListResponse {
        ImageListResponse(
            imageIdentifiers: images.map {
                .init(
                    imageIdentifier: $0.id,
                    imageState: $0.state.rawValue,
                    imageSize: $0.size.rawValue
                )
            }
        )
    }

    // MARK: - Messages

    mutating func uploadMessage(
        _ id: String,
        _ content: RetentionMessageContent,
        in environment: SimulatedAppStore.Environment
    ) throws(APIError) {
        let id = try Self.identifier(id)
        try content.check()
        if let image = content.image {
            try requireImage(image.imageIdentifier, .fullSize)
        }
        for point in content.bulletPoints ?? [] {
            try requireImage(point.imageIdentifier, .bulletPoint)
        }
        guard message(id) == nil else { throw .messageAlreadyExists }
        guard messages.count < Self.mostUploads else {
            throw .maximumNumberOfMessagesReached
        }
        messages.append(.init(id: id, content: content, state: Self.review(in: environment)))
    }

    /// Apple's documentation does not say how it answers a message whose image was never uploaded.
    private func requireImage(_ id: String, _ size: ImageSize) throws(APIError) {
        guard let image = image(id.lowercased()) else { throw .imageNotFound }
        guard image.size == size else { throw .badRequestImageSize }
    }

    /// Deletes a message, and default messages with it: what Apple does with those is not
    /// documented.
    mutating func deleteMessage(_ id: String) throws(APIError) {
        let id = try Self.identifier(id)
        guard message(id) != nil else { throw .messageNotFound }
        messages.removeAll { $0.id == id }
        defaults = defaults.filter { $0.value != id }
    }

    var messageList: MessageListResponse {
        MessageListResponse(
            messageIdentifiers: messages.map {
                .init(messageIdentifier: $0.id, messageState: $0.state.rawValue)
            }
        )
    }

    // MARK: - Default messages

    mutating func setDefaultMessage(
        _ request: DefaultMessage,
        product: String,
        locale: String,
        in world: World
    ) throws(APIError) {
        let place = try place(product, locale, in: world)
        guard let id = request.messageIdentifier?.lowercased(),
            let message = message(id)
        else { throw .messageNotFound }
        guard message.state == .approved else { throw .messageNotApproved }
        guard isApproved(message) else { throw .imageNotApproved }
        defaults[place] = id
    }

    func defaultMessage(
        product: String,
        locale: String,
        in world: World
    ) throws(APIError) -> DefaultMessage {
        guard let id = defaults[try place(product, locale, in: world)] else {
            throw .defaultMessageNotFound
        }
        return DefaultMessage(messageIdentifier: id)
    }

    /// Succeeds where there is none, too.
    mutating func deleteDefaultMessage(
        product: String,
        locale: String,
        in world: World
    ) throws(APIError) {
        defaults[try place(product, locale, in: world)] = nil
    }

    private func place(
        _ product: String,
        _ locale: String,
        in world: World
    ) throws(APIError) -> Place {
        guard world.products[product]?.kind == .autoRenewable else {
            throw .parameter(4_000_023, "productId")
        }
        guard Self.locales.contains(locale) else { throw .invalidLocale }
        return Place(product: product, locale: locale)
    }

    // MARK: - The realtime URL

    mutating func setRealtimeURL(
        _ url: String,
        in environment: SimulatedAppStore.Environment
    ) throws(APIError) {
        guard Self.isRealtimeURL(url) else { throw .badRequestRealtimeURL }
        guard environment == .sandbox || hasPassedTest else { throw .noPassingTest }
        realtimeURL = url
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

    func configuredURL() throws(APIError) -> RealtimeURL {
        guard let url = realtimeURL else { throw .realtimeURLNotFound }
        return RealtimeURL(realtimeURL: url)
    }

    mutating func deleteRealtimeURL() throws(APIError) {
        guard realtimeURL != nil else { throw .realtimeURLNotFound }
        realtimeURL = nil
    }

    /// A UUID in lower case.
    private static func identifier(_ text: String) throws(APIError) -> String {
        guard UUID(uuidString: text) != nil else { throw .badRequest }
        return text.lowercased()
    }

    // MARK: - What Apple's reviewers do

    /// Approves or rejects an image.
    mutating func reviewImage(_ id: String, _ state: State) throws(Refusal) {
        guard let index = images.firstIndex(where: { $0.id == id.lowercased() }) else {
            throw .notFound("image \(id)")
        }
        images[index].state = state
    }

    /// Approves or rejects a message.
    mutating func reviewMessage(_ id: String, _ state: State) throws(Refusal) {
        guard let index = messages.firstIndex(where: { $0.id == id.lowercased() })
        else { throw .notFound("message \(id)") }
        messages[index].state = state
    }
}
