// What Swift cannot call of libcurl: functions with a variable argument, and a union.
// Everything is static inline, so that this stays a header and a module map.
#pragma once
// The checks of arguments are macros, for calls in C only.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Enumerators in one version of libcurl, macros of several types in another.
static const long ccurl_http_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long ccurl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
/// A line of a response is too long. Before version 8.6, that is CURLE_OUT_OF_MEMORY.
static const CURLcode ccurl_too_large = (CURLcode)100;

/// Takes bytes of a response, and returns their number; any other number ends the transfer.
typedef size_t (*ccurl_sink)(char *bytes, size_t size, size_t count, void *owner);

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
/// libcurl copies the text.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}
/// Makes the request a POST of these bytes, which libcurl copies.
static inline CURLcode ccurl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes == NULL ? "" : bytes);
}
/// The list must outlive the transfer.
static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *lines) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
}
/// `message` has room for CURL_ERROR_SIZE bytes, and must outlive the handle.
static inline CURLcode ccurl_set_message(CURL *easy, char *message) {
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message);
}
/// What takes each line of a response's head, and each part of its body.
static inline CURLcode ccurl_set_sinks(CURL *easy, void *owner, ccurl_sink line, ccurl_sink part) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, line);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, owner);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, part);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, owner);
    return code;
}

/// Opens a socket for an address, or returns CURL_SOCKET_BAD.
typedef curl_socket_t (*ccurl_opener)(
    void *owner, curlsocktype purpose, struct curl_sockaddr *address);

/// What opens the sockets of a transfer.
static inline CURLcode ccurl_set_opener(CURL *easy, void *owner, ccurl_opener opener) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, owner) : code;
}
/// Copies the bytes of an address, at most 16, and returns their number; 0: it is of another kind.
static inline size_t ccurl_address(const struct curl_sockaddr *address, uint8_t *bytes) {
    const struct sockaddr *any = &address->addr;
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        memcpy(bytes, &((const struct sockaddr_in *)any)->sin_addr, 4);
        return 4;
    }
    if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        memcpy(bytes, &((const struct sockaddr_in6 *)any)->sin6_addr, 16);
        return 16;
    }
    return 0;
}
static inline curl_socket_t ccurl_open(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// A transfer's number is kept in its handle, where libcurl has room for a pointer.
static inline CURLcode ccurl_set_id(CURL *easy, uint64_t id) {
    return curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *)(uintptr_t)id);
}
static inline uint64_t ccurl_id(CURL *easy) {
    char *id = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &id) == CURLE_OK ? (uintptr_t)id : 0;
}

/// A number that libcurl knows of a transfer; 0 if it does not.
static inline long ccurl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
/// The microseconds from the start of a transfer to one of its events; 0 before that.
static inline int64_t ccurl_microseconds(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
/// A transfer that has ended, and how; NULL if there is no further one.
static inline CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
