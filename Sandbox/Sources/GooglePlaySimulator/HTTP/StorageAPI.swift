import Foundation
import SandboxClock

/// Cloud Storage's JSON API over the bucket with reports: files are listed and read.
struct StorageAPI: Sendable {
    static let scopes = [
        "https://www.googleapis.com/auth/devstorage.read_only",
        "https://www.googleapis.com/auth/devstorage.read_write",
        "https://www.googleapis.com/auth/devstorage.full_control",
    ]

    let play: SimulatedGooglePlay

    func answer(_ exchange: Exchange) async -> Answer {
        do {
            guard
                await play.tokens.accepts(
                    exchange.authorization,
                    of: await play.account,
                    scopes: Self.scopes,
                    seconds: exchange.seconds
                )
            else { throw APIError.unauthenticated }
            var path = exchange.path
            let isDownload = path.first == "download"
            if isDownload { path.removeFirst() }
            guard exchange.method == "GET", path.count >= 4, path[1] == "v1", path[2] == "b" else {
                throw APIError.notFound("Not Found")
            }
            let bucket = await play.bucket
            guard path[3] == bucket.name else {
                throw APIError.notFound("The specified bucket does not exist.")
            }
            guard await play.account.permissions.contains(.viewFinancialData) else {
                throw APIError.forbidden
            }
            let files = bucket.files(await play.store, at: await play.clock.now)
            if path.count == 4 { return .json(describe(bucket)) }
            if path.count == 5 { return .json(try list(files, bucket, exchange)) }
            // Only the newest generation is kept.
            let generation = exchange.first("generation")
            guard
                let file = files.first(where: { $0.name == path[5] }),
                generation.map({ $0 == "\(file.generation)" }) ?? true
            else {
                throw APIError.notFound("No such object: \(bucket.name)/\(path[5])")
            }
            guard isDownload || exchange.first("alt") == "media" else {
                return .json(wire(file, bucket, exchange.origin))
            }
            return Answer(body: file.bytes, type: file.type)
        } catch let error as APIError {
            var storage = error
            storage.domain = "global"
            return .error(storage)
        } catch {
            Trouble.tell(error, during: exchange)
            return .error(.internalError)
        }
    }

    private func describe(_ bucket: Bucket) -> JSON {
        ["kind": "storage#bucket", "id": .string(bucket.name), "name": .string(bucket.name)]
    }

    private func list(_ files: [Bucket.File], _ bucket: Bucket, _ exchange: Exchange) throws -> JSON
    {
        let prefix = exchange.first("prefix") ?? ""
        let found = files.filter { $0.name.hasPrefix(prefix) }
        let offset = Int(exchange.first("pageToken") ?? "0") ?? 0
        let size = max(1, min(1000, Int(exchange.first("maxResults") ?? "1000") ?? 1000))
        guard offset >= 0 else { throw APIError.invalid("Invalid page token.") }
        let page = found.dropFirst(offset).prefix(size)
        let next = offset + page.count
        return [
            "kind": "storage#objects",
            "items": .items(page.map { wire($0, bucket, exchange.origin) }),
            "nextPageToken": next < found.count ? .string("\(next)") : nil,
        ]
    }

    private func wire(_ file: Bucket.File, _ bucket: Bucket, _ origin: String) -> JSON {
        let escaped = file.name.replacingOccurrences(of: "/", with: "%2F")
        let link = "\(origin)/download/storage/v1/b/\(bucket.name)/o/\(escaped)?alt=media"
        return [
            "kind": "storage#object", "name": .string(file.name),
            "bucket": .string(bucket.name), "contentType": .string(file.type),
            "size": .string("\(file.bytes.count)"), "updated": .time(file.updated),
            "timeCreated": .time(file.updated), "generation": .string("\(file.generation)"),
            "metageneration": "1", "storageClass": "STANDARD",
            "id": .string("\(bucket.name)/\(file.name)/\(file.generation)"),
            "mediaLink": .string(link),
        ]
    }
}
