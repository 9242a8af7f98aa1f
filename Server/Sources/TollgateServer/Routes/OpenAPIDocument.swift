internal import Foundation

/// What `/healthz` and `/readyz` answer while all is well.
let healthy = Data(#"{"status":"ok"}"#.utf8)

/// What a store is told.
let receivedBody = Data(#"{"received":true}"#.utf8)

/// The description of every route, as it lies in `Pages/openapi.json`.
let openAPIDocument = Data(PackageResources.openapi_json)
