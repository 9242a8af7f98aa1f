extension GooglePlay {
    /// Reads a bucket of Cloud Storage, where the Play Console puts its reports, by the JSON API.
    ///
    /// https://cloud.google.com/storage/docs/json_api/v1/objects
    public struct StorageClient: Sendable {
        /// `pubsite_prod_rev_01234567890987654321`.
        public let bucket: String
        private let apiBase: String
        private let tokens: AccessTokens
        private let transport: Transport

        /// - Parameters:
        ///   - apiBase: The API's address without a path.
        ///   - tokens: With the scope `GooglePlay.storageScope`.
        public init(
            bucket: String,
            apiBase: String = "https://storage.googleapis.com",
            tokens: AccessTokens,
            transport: @escaping Transport
        ) {
            self.bucket = bucket
            self.apiBase = apiBase.hasSuffix("/") ? String(apiBase.dropLast()) : apiBase
            self.tokens = tokens
            self.transport = transport
        }

        /// An object of the bucket.
        public struct Object: Hashable, Sendable {
            /// `sales/salesreport_202605.zip`.
            public let name: String
            /// Another one after each change of the content.
            public let generation: String
            public let size: Int64
            /// UNIX milliseconds of the last change.
            public let updated: Int64?

            init(_ fields: Fields) throws(DecodingError) {
                name = try fields.string("name")
                generation = try fields.string("generation")
                size = try fields.optionalInteger("size") ?? 0
                updated = try fields.optionalTime("updated")
            }
        }

        /// A page of a list.
        public struct Page: Hashable, Sendable {
            public let objects: [Object]
            /// The place of the next page; `nil` for the last one.
            public let next: String?
        }

        /// `objects.list`: the objects whose names begin with `prefix`, page by page.
        public func objects(
            prefix: String,
            page: String? = nil
        ) async throws(APIFault) -> Page {
            var query = [
                ("prefix", prefix), ("maxResults", "500"),
                ("fields", "nextPageToken,items(name,generation,size,updated)"),
            ]
            if let page { query.append(("pageToken", page)) }
            let response = try await get("", query, "storage.objects.list")
            do throws(DecodingError) {
                let json = try Client.json(response, "storage.objects.list")
                let fields = try Fields(json, "Objects")
                return Page(
                    objects: try fields.list("items") { item throws(DecodingError) in
                        try Object(item)
                    },
                    next: try fields.optionalString("nextPageToken")
                )
            } catch {
                throw APIFault(operation: "storage.objects.list", cause: .unreadable(error))
            }
        }

        /// `objects.get` with `alt=media`: the content of an object as it was listed.
        public func content(of object: Object) async throws(APIFault) -> [UInt8] {
            let query = [("alt", "media"), ("generation", object.generation)]
            let path = "/" + URLText.escaped(object.name)
            return try await get(path, query, "storage.objects.get").body
        }

        private func get(
            _ path: String,
            _ query: [(String, String)],
            _ operation: String
        ) async throws(APIFault) -> HTTPResponse {
            let query = query.map { "\($0)=\(URLText.escaped($1))" }.joined(separator: "&")
            return try await Client.send(
                HTTPRequest(
                    method: "GET",
                    url: "\(apiBase)/storage/v1/b/\(URLText.escaped(bucket))/o\(path)?\(query)"
                ),
                operation,
                at: .storage,
                tokens,
                transport
            )
        }
    }
}
