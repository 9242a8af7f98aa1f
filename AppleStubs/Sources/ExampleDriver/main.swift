import BillingSDK
import ExampleApp
import Foundation

// Shows the sample app on the terminal: commands come on standard input, one per line, and what the
// screen says goes out as one line of JSON after each.
//
//     show | wait TEXT | gone TEXT | sign-in NAME | press TITLE | link URL | opened |
//     promote PRODUCT [once] | sell JWS | page | close | has KEY

let arguments = ProcessInfo.processInfo.arguments
guard arguments.count == 4 else {
    print("usage: ExampleDriver TOLLGATE_URL PUBLISHABLE_KEY BACKEND_URL")
    exit(2)
}
let app = RunningApp(
    tollgate: arguments[1],
    publishableKey: arguments[2],
    backend: arguments[3]
)
await app.start()
while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    print(await app.perform(words))
    fflush(nil)
}
