/// Stripe's contract: its words, its wire format, its API.
///
/// It knows nothing of ours.
///
/// Read from the documentation and the generated types of Stripe; instants are UNIX seconds and
/// amounts minor units, as Stripe sends them.
public enum Stripe {
    /// The API version that requests ask for and whose shapes are read.
    ///
    /// Shapes since `basil` are the same; the few fields that moved there are read in their old
    /// place too. An event in another version is a hint to read the object again.
    public static let apiVersion = "2026-09-30.endive"
}
