#pragma once
#include <curl/curl.h>

// Swift calls no functions that take any number of arguments. Here they have one type of argument each.

static inline CURLcode tollgate_curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

// libcurl keeps a copy of the text.
static inline CURLcode tollgate_curl_set_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode tollgate_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode tollgate_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
    return curl_easy_setopt(curl, option, value);
}

typedef size_t (*tollgate_curl_transfer)(char *, size_t, size_t, void *);

static inline CURLcode tollgate_curl_set_transfer(
    CURL *curl, CURLoption option, tollgate_curl_transfer value) {
    return curl_easy_setopt(curl, option, value);
}

typedef int (*tollgate_curl_progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode tollgate_curl_set_progress(CURL *curl, tollgate_curl_progress value) {
    return curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, value);
}

// The certificates that the peer has sent, its own first; freed with the handle.
static inline struct curl_certinfo *tollgate_curl_certificates(CURL *curl) {
    struct curl_certinfo *found = NULL;
    return curl_easy_getinfo(curl, CURLINFO_CERTINFO, &found) == CURLE_OK ? found : NULL;
}
