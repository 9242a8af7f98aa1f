// SPDX-License-Identifier: Apache-2.0
import Stores
import Testing

@Suite("The pace of long work")
struct ProgressPaceTests {
    @Test(
        "The time that is left follows from the pace so far",
        arguments: [
            (250, 10, "rows: 250 of 1000 [##--------], 30 s left"),
            (100, 60, "rows: 100 of 1000 [#---------], 9 min left"),
            (10, 60, "rows: 10 of 1000 [----------], 1 h 39 min left"),
            (999, 60, "rows: 999 of 1000 [#########-], 1 s left"),
            // Two seconds are too short to know.
            (250, 1, "rows: 250 of 1000 [##--------]"),
            (1000, 60, "rows: 1000 of 1000 [##########]"),
        ]
    )
    func left(done: Int, seconds: Int, line: String) {
        var pace = ProgressPace()
        _ = pace.line(WorkProgress(step: "rows", done: 0, of: 1000), at: .zero)
        let progress = WorkProgress(step: "rows", done: done, of: 1000)
        #expect(pace.line(progress, at: .seconds(seconds)) == line)
    }

    @Test("Each step has its own pace, and work that goes on where it was counts from there")
    func steps() {
        var pace = ProgressPace()
        _ = pace.line(WorkProgress(step: "pages", done: 0, of: 10), at: .zero)
        _ = pace.line(WorkProgress(step: "rows", done: 500, of: 1000), at: .seconds(60))
        #expect(
            pace.line(WorkProgress(step: "rows", done: 600, of: 1000), at: .seconds(70))
                == "rows: 600 of 1000 [######----], 40 s left"
        )
    }

    @Test("Where nobody knows how much there is, only what is done is said")
    func unknown() {
        var pace = ProgressPace()
        #expect(pace.line(WorkProgress(step: "events", done: 7), at: .seconds(60)) == "events: 7")
    }

    @Test("Nothing to do is done")
    func nothing() {
        var pace = ProgressPace()
        #expect(
            pace.line(WorkProgress(step: "rows", done: 0, of: 0), at: .seconds(60))
                == "rows: 0 of 0 [##########]"
        )
    }
}
