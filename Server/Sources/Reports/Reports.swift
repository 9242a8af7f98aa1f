/// What the business looks at: rows of what was sold, and figures over them.
///
/// Pure: rows are functions of a purchase's record, figures are functions of rows. Where both are
/// kept, and when they are read, is others' business.
public enum Reports {
    /// The version of how rows and their sums are derived; a change that derives others must raise
    /// it, so that what is kept is derived again.
    public static let version: Int64 = 12
}
