// A certificate for tests only: its key is public. Made with openssl, valid until 2125.

enum TestPEM {
    /// Signs the other.
    static let root = """
        -----BEGIN CERTIFICATE-----
        MIIBfzCCASWgAwIBAgIUL/R42PnWBmDcaeghT+rt+i1ca+UwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJVGVzdCByb290MCAXDTI2MTEyMjA2MjYzOVoYDzIxMjYxMDI5
        MDYyNjM5WjAUMRIwEAYDVQQDDAlUZXN0IHJvb3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAS9V2yC4wapiNbGQL2gXkAhbaLMu8a4XzwmDtoY3WRkKHprj7num8Q2
        oSe8g3fl90kKGNG1tZ2SYDxFBoNDPyBxo1MwUTAdBgNVHQ4EFgQUF8E1kRURgxxx
        r8QS7dnYMqvnOw0wHwYDVR0jBBgwFoAUF8E1kRURgxxxr8QS7dnYMqvnOw0wDwYD
        VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAeEId6uDkdFL8YZz9+vlJU
        07pZ8UwBaWtjUOl5+F/ImwIhAI4GeR5iThQWEY45wLyWbpOWKEhD6EIfvLEhUnRL
        S1x9
        -----END CERTIFICATE-----
        """
    /// P-256, for `one.example` and 127.0.0.1.
    static let first = """
        -----BEGIN CERTIFICATE-----
        MIIBlTCCATugAwIBAgIJAPg/ZL8L8gaiMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMM
        CVRlc3Qgcm9vdDAgFw0yNjAxMDEwMDAwMDBaGA8yMTI1MTIwODAwMDAwMFowEDEO
        MAwGA1UEAwwFZmlyc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATPLDgJ8y9V
        3aWm3vqR/eModyjt8QNpTaaDGAeifxIgRdFozwDuGF6jCusjIA0+033Fd8RvWU4o
        eOJpFpTLRDQHo3gwdjAJBgNVHRMEAjAAMCkGA1UdEQQiMCCCC29uZS5leGFtcGxl
        ggtPbmUuRXhhbXBsZYcEfwAAATAdBgNVHQ4EFgQU/ZEtavOVuhXk9rXkV8BbYW7a
        +tMwHwYDVR0jBBgwFoAUF8E1kRURgxxxr8QS7dnYMqvnOw0wCgYIKoZIzj0EAwID
        SAAwRQIgUWWtxGKh2OgtKvUX3l9BAQDJs68Bb9w90kzpUcwPGrACIQCM6ukuuqRE
        IEyd2M9luTVUC3f0xfKg5/JxYQfBXYyXmg==
        -----END CERTIFICATE-----
        """
    static let firstKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw2Af+JzwdXl/sj06
        s6OQvZTmumsMXIaQ58Pzn2YHQLmhRANCAATPLDgJ8y9V3aWm3vqR/eModyjt8QNp
        TaaDGAeifxIgRdFozwDuGF6jCusjIA0+033Fd8RvWU4oeOJpFpTLRDQH
        -----END PRIVATE KEY-----
        """
}
