/// The calendar by which simulated stores count months.
public enum SandboxCalendar {
    /// By how many milliseconds the present story is told later than it is written.
    ///
    /// A story about a February stays one when it is told in August: months are counted by the
    /// dates as they are written. It belongs to the task that tells the story.
    @TaskLocal public static var offset: Int64 = 0
}
