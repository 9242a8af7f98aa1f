import AppStoreSimulator
import Foundation
import SandboxClock
import Testing

@Suite("The file that keeps a sandbox's state")
struct StateFileTests {
    @Test("A file in a folder that is not there is refused at the start, with what to do")
    func noFolder() throws {
        let folder = NSTemporaryDirectory() + UUID().uuidString
        let problem = #expect(throws: StateFile.Problem.self) {
            try StateFile("\(folder)/state.json")
        }
        #expect(
            problem?.description
                == "\(folder)/state.json: there is no folder \(folder); make it first"
        )
        var configuration = SimulatedAppStore.Configuration(bundleID: "com.example.app")
        configuration.statePath = "\(folder)/state.json"
        #expect(throws: StateFile.Problem.self) {
            try SimulatedAppStore(configuration: configuration, clock: VirtualClock(now: 0))
        }
    }

    @Test("A file that holds something else is named, and stays as it is")
    func somethingElse() throws {
        let path = NSTemporaryDirectory() + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        let problem = #expect(throws: StateFile.Problem.self) {
            try SimulatedAppStore.savedNow(statePath: path)
        }
        let words = "\(path) is not the state of such a sandbox"
        #expect(problem?.description.hasPrefix(words) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("{".utf8))
    }
}
