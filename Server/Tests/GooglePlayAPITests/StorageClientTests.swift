import Testing

@testable import GooglePlayAPI

@Suite("The bucket with the reports")
struct StorageClientTests {
    @Test("The bucket is listed page by page, and an object is read as it was listed")
    func bucket() async throws {
        func page(_ name: String, _ next: String) -> GooglePlay.HTTPResponse {
            let body =
                #"{"kind":"storage#objects","items":[{"name":"\#(name)","generation":"17","size":"9","#
                + #""updated":"2026-06-01T00:00:00.000Z"}]\#(next)}"#
            return GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))
        }
        let google = ClientTests.Google([
            page("sales/salesreport_202605.zip", #","nextPageToken":"p 2""#),
            page("sales/salesreport_202606.zip", ""),
            GooglePlay.HTTPResponse(status: 200, body: [1, 2]),
            GooglePlay.HTTPResponse(
                status: 404,
                body: Array(#"{"error":{"code":404,"message":"No such object"}}"#.utf8)
            ),
            GooglePlay.HTTPResponse(status: 403, body: Array("<html>".utf8)),
        ])
        let client = GooglePlay.StorageClient(
            bucket: "pubsite_prod_rev_1",
            apiBase: "http://127.0.0.1:1/",
            tokens: try await ClientTests.tokens(google),
            transport: { google.answer($0) }
        )
        let first = try await client.objects(prefix: "sales/")
        #expect(first.next == "p 2")
        let second = try await client.objects(prefix: "sales/", page: first.next)
        #expect(second.next == nil)
        let object = try #require(second.objects.first)
        #expect(object.name == "sales/salesreport_202606.zip" && object.generation == "17")
        #expect(object.size == 9 && object.updated == 1_780_272_000_000)
        #expect(try await client.content(of: object) == [1, 2])
        let list = "http://127.0.0.1:1/storage/v1/b/pubsite_prod_rev_1/o?prefix=sales%2F"
        #expect(google.requests.prefix(2).allSatisfy { $0.url.hasPrefix(list) })
        #expect(google.requests[1].url.hasSuffix("&pageToken=p%202"))
        #expect(
            google.requests[2].url
                == "http://127.0.0.1:1/storage/v1/b/pubsite_prod_rev_1/o/"
                + "sales%2Fsalesreport_202606.zip?alt=media&generation=17"
        )
        // Replaced since it was listed; then a proxy's page, which says nothing of the bucket.
        for meaning in [GooglePlay.APIFault.Meaning.notFound, .notAllowed] {
            do {
                _ = try await client.content(of: object)
                Issue.record("not refused")
            } catch {
                #expect(error.meaning == meaning)
            }
        }
    }
}
