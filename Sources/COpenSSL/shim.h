// What Swift cannot say about OpenSSL 3: macros, stacks, and a BIO over memory of the caller.
// Everything is static inline, so that this stays a header and a module map.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// MARK: - The BIO

/// The two ends of a BIO during one call: what was received, and what is to be sent.
typedef struct cssl_wire {
    /// Bytes that have not been read yet.
    const uint8_t *in;
    size_t in_count;
    uint8_t *out;
    size_t out_count, out_capacity;
    /// Messages other than application data that the session may still read or write.
    int64_t messages_left;
} cssl_wire;

/// A session writes less than this to its wire in one call, besides application data.
#define CSSL_OUT_MIN 4096

static inline int cssl_bio_read(BIO *bio, char *to, int count) {
    cssl_wire *wire = (cssl_wire *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire == NULL || wire->messages_left < 0 || count <= 0) return -1;
    if (wire->in_count == 0) { BIO_set_retry_read(bio); return -1; }
    size_t taken = (size_t)count < wire->in_count ? (size_t)count : wire->in_count;
    memcpy(to, wire->in, taken);
    wire->in += taken;
    wire->in_count -= taken;
    return (int)taken;
}

// The retry flags belong to the last read: SSL_get_error asks for them after a write, too.
static inline int cssl_bio_write(BIO *bio, const char *from, int count) {
    cssl_wire *wire = (cssl_wire *)BIO_get_data(bio);
    if (wire == NULL || count < 0) return -1;
    size_t needed = wire->out_count + (size_t)count;
    if (needed > wire->out_capacity) {
        size_t capacity = wire->out_capacity < CSSL_OUT_MIN ? CSSL_OUT_MIN : wire->out_capacity;
        while (capacity < needed) capacity *= 2;
        uint8_t *grown = (uint8_t *)realloc(wire->out, capacity);
        if (grown == NULL) return -1;
        wire->out = grown;
        wire->out_capacity = capacity;
    }
    memcpy(wire->out + wire->out_count, from, (size_t)count);
    wire->out_count = needed;
    return count;
}

static inline long cssl_bio_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static inline int cssl_bio_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *cssl_bio_method = NULL;
static CRYPTO_ONCE cssl_bio_once = CRYPTO_ONCE_STATIC_INIT;

static inline void cssl_make_bio_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "wire");
    if (method == NULL) return;
    BIO_meth_set_create(method, cssl_bio_create);
    BIO_meth_set_read(method, cssl_bio_read);
    BIO_meth_set_write(method, cssl_bio_write);
    BIO_meth_set_ctrl(method, cssl_bio_ctrl);
    cssl_bio_method = method;
}

/// A BIO without a wire; NULL if there is not enough memory.
static inline BIO *cssl_bio(void) {
    CRYPTO_THREAD_run_once(&cssl_bio_once, cssl_make_bio_method);
    return cssl_bio_method == NULL ? NULL : BIO_new(cssl_bio_method);
}

/// Gives the session its wire for the next call; NULL after it.
static inline void cssl_attach(SSL *ssl, cssl_wire *wire) { BIO_set_data(SSL_get_rbio(ssl), wire); }

// Called for every message that is no application data, and for every record's header, which has
// a type of its own above those of messages.
static inline void cssl_count_message(
    int is_written, int version, int type, const void *bytes, size_t count, SSL *ssl, void *arg) {
    (void)is_written, (void)version, (void)bytes, (void)count, (void)arg;
    if (type >= SSL3_RT_HEADER) return;
    cssl_wire *wire = (cssl_wire *)BIO_get_data(SSL_get_rbio(ssl));
    if (wire != NULL) wire->messages_left -= 1;
}

// MARK: - Contexts

// Never asks a terminal for a password.
static inline int cssl_no_password(char *to, int size, int is_written, void *arg) {
    (void)to, (void)size, (void)is_written, (void)arg;
    return -1;
}

static inline int cssl_set_versions(SSL_CTX *context, int least, int most) {
    return SSL_CTX_set_min_proto_version(context, least)
        && SSL_CTX_set_max_proto_version(context, most);
}
static inline int cssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}
/// Takes over the certificate if it succeeds.
static inline int cssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}
static inline void cssl_set_mode(SSL_CTX *context, long mode) {
    (void)SSL_CTX_set_mode(context, mode);
}
static inline void cssl_set_options(SSL_CTX *context) {
    // A connection that ends without close_notify is lost, as one without TLS would be. Frames
    // carry their length, so that a response that was cut off cannot be taken for a whole one.
    (void)SSL_CTX_set_options(
        context,
        SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
            | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}
static inline void cssl_set_session_cache(SSL_CTX *context, long mode) {
    (void)SSL_CTX_set_session_cache_mode(context, mode);
}
static inline void cssl_set_owner(SSL_CTX *context, void *owner) {
    (void)SSL_CTX_set_app_data(context, owner);
}
/// The owner of the context that the session has now.
static inline void *cssl_owner(const SSL *ssl) {
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}
static inline void cssl_set_server_name_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    (void)SSL_CTX_set_tlsext_servername_callback(context, callback);
}
/// The name of the server in the ClientHello that is being read; 0 bytes if there is none, or none
/// that can be read: OpenSSL reads it again later, and rejects what is malformed.
static inline size_t cssl_hello_server_name(SSL *ssl, const uint8_t **name) {
    const uint8_t *bytes;
    size_t count;
    if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &count)) return 0;
    // A list of one name: its length, the kind of the name, the length of the name.
    if (count < 5 || bytes[2] != TLSEXT_NAMETYPE_host_name) return 0;
    if ((size_t)(bytes[0] << 8 | bytes[1]) != count - 2) return 0;
    if ((size_t)(bytes[3] << 8 | bytes[4]) != count - 5) return 0;
    *name = bytes + 5;
    return count - 5;
}
static inline int cssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// MARK: - Tickets

#define CSSL_TICKET_NAME_BYTES 16
#define CSSL_TICKET_KEY_BYTES 32

/// Prepares the encryption of a ticket (AES-256-CBC, then HMAC-SHA256); for a new one, `iv` is
/// filled in.
static inline int cssl_protect_ticket(
    const uint8_t *cipher_key, const uint8_t *mac_key, uint8_t *iv, EVP_CIPHER_CTX *cipher,
    EVP_MAC_CTX *mac, int is_new) {
    const EVP_CIPHER *kind = EVP_aes_256_cbc();
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(
            OSSL_MAC_PARAM_KEY, (void *)mac_key, CSSL_TICKET_KEY_BYTES),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    if (is_new && RAND_bytes(iv, EVP_CIPHER_get_iv_length(kind)) <= 0) return 0;
    if (!EVP_MAC_CTX_set_params(mac, parameters)) return 0;
    return EVP_CipherInit_ex(cipher, kind, NULL, cipher_key, iv, is_new);
}

// MARK: - Certificates

/// Calls `each` with every DNS name of the certificate's subjectAltName.
static inline void cssl_each_name(
    const X509 *certificate, void *arg, void (*each)(void *, const uint8_t *, int)) {
    GENERAL_NAMES *names =
        (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int number = 0; number < sk_GENERAL_NAME_num(names); number++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, number);
        if (name->type != GEN_DNS) continue;
        each(arg, ASN1_STRING_get0_data(name->d.dNSName), ASN1_STRING_length(name->d.dNSName));
    }
    GENERAL_NAMES_free(names);
}

/// Seconds from 1970 to a time of a certificate; 0 if it cannot be read.
static inline int64_t cssl_seconds(const ASN1_TIME *time) {
    ASN1_TIME *start = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;
    int is_read = start != NULL && ASN1_TIME_diff(&days, &seconds, start, time);
    ASN1_TIME_free(start);
    return is_read ? (int64_t)days * 86400 + seconds : 0;
}
