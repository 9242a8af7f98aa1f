internal import CommandOutput
internal import ArgumentParser
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import StripeSimulator

/// `tollgate sandbox stripe trigger EVENT`: brings an event about in a running sandbox.
struct SandboxStripeTriggerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger",
        abstract: "Brings an event about in a running sandbox.",
        discussion: "Each is the end of a small story, played with objects of its own."
    )

    @Argument(help: "The type of the event, such as checkout.session.completed.")
    var event: String?

    @Flag(help: "Only show which events can be brought about.")
    var list = false

    @Option(help: "Where the sandbox is controlled.")
    var sandbox = "http://127.0.0.1:8082"

    @Flag(help: "Answer in JSON.")
    var json = false

    func validate() throws {
        guard list || event != nil else {
            throw ValidationError("Name the type of an event; --list shows them.")
        }
    }

    func run() async throws {
        guard let event, !list else {
            if json { return try Terminal.sayJSON(StripeSimulator.triggers) }
            Terminal.say(StripeSimulator.triggers.joined(separator: "\n"))
            return
        }
        let sent = try JSONSerialization.data(withJSONObject: ["event": event])
        _ = try await SandboxControl(base: sandbox).post("/sandbox/trigger", sent)
        if json { return try Terminal.sayJSON(["triggered": event]) }
        Terminal.say("Triggered \(event).")
    }
}

/// `tollgate sandbox stripe listen --forward-to URL`: sends a running sandbox's events there.
struct SandboxStripeListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Forwards a running sandbox's events and shows them."
    )

    @Option(help: "The address that gets every event.")
    var forwardTo: String

    @Option(help: "The types of events, separated by commas.")
    var events = "*"

    @Option(help: "Where the sandbox is controlled.")
    var sandbox = "http://127.0.0.1:8082"

    @Flag(help: "Print the signing secret and end; the endpoint stays.")
    var printSecret = false

    private struct Endpoint: Decodable { var secret: String }

    private struct Log: Decodable {
        struct Event: Decodable {
            var id: String
            var type: String
        }
        var data: [Event]
    }

    func run() async throws {
        let control = SandboxControl(base: sandbox)
        let types = events.split(separator: ",").map(String.init)
        let sent = try JSONSerialization.data(
            withJSONObject: ["url": forwardTo, "events": types] as [String: Any]
        )
        let made = try await control.post("/sandbox/endpoints", sent)
        let secret = try JSONDecoder().decode(Endpoint.self, from: made).secret
        guard !printSecret else {
            Terminal.say(secret)
            return
        }
        try Terminal.put(Data("Ready! Your webhook signing secret is \(secret)\n".utf8))
        var seen = Set(try await log(control).map(\.id))
        while !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(500))
            for event in try await log(control) where seen.insert(event.id).inserted {
                try Terminal.put(Data("--> \(event.type) [\(event.id)]\n".utf8))
            }
        }
    }

    private func log(_ control: SandboxControl) async throws -> [Log.Event] {
        try JSONDecoder().decode(Log.self, from: try await control.get("/sandbox/events")).data
    }
}

/// The control API of a running sandbox.
struct SandboxControl {
    let base: String

    func post(_ path: String, _ body: Data) async throws -> Data {
        var request = HTTPClientRequest(url: base + path)
        request.method = .POST
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await send(request)
    }

    func get(_ path: String) async throws -> Data {
        try await send(HTTPClientRequest(url: base + path))
    }

    private func send(_ request: HTTPClientRequest) async throws -> Data {
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 24)
        guard (200..<300).contains(response.status.code) else {
            throw ValidationError(String(buffer: body))
        }
        return Data(body.readableBytesView)
    }
}
