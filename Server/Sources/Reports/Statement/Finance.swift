/// What the stores took, kept and pay out, as accounts see it.
///
/// Pure: amounts are exact, days are the stores' own, no clock is asked.
public enum Finance {}
