// SPDX-License-Identifier: Apache-2.0
internal import CCurl

/// The library that speaks SMTP, and shows certificates.
enum LibCurl {
    /// True once the library is set up, which takes place before its first handle is made.
    static let isReady = curl_global_init(3) == CURLE_OK
}
