/// Apple's contract: what the App Store signs, sends and answers, in Apple's words.
///
/// Instants are UNIX milliseconds, amounts of money are milliunits of the currency (1.99 USD is
/// 1990), as Apple writes them. Every enumeration is open: a value that is newer than this code is
/// kept and passed on.
public enum AppStore {}
