import Foundation

// Writes each ready view of the SDK as a page for a browser, in light mode and dark, in the usual type and
// the largest, in German, and from right to left. Server/Tests/Python/test_sdk_views.py looks at them.
guard CommandLine.arguments.count == 2 else {
    print("usage: ViewPictures FOLDER")
    exit(2)
}
do {
    try await ViewPictures(folder: URL(fileURLWithPath: CommandLine.arguments[1])).write()
} catch {
    print(error)
    exit(1)
}
