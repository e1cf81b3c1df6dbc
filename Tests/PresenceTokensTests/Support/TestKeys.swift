// Keys for tests, made with openssl. They open nothing.

enum TestKeys {
    static let secret = "a secret of thirty-two bytes, or more"

    /// An RSA key of 2,048 bits.
    static let rsaPrivate = """
        -----BEGIN PRIVATE KEY-----
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCbn8xVB4oVysd0
        ofux/T+4aqWFlllVlApi7xf7EzYj3FdsncPxVRaA80J6QFXAgywpro9B8DytzZJf
        ZgQAVmIjqsod5jBe0pFx7F4eFvHZkatzZhRGuct2eNMOI7TSGFWtrpPvqQH81y1l
        Dgyt48Tw06uxNLcYQ1vbU+Xo7gIhuvIQDkc11MW5gnv25FBNY/+iEzArb+GRQC8U
        hFHfzLL4k9Uhfyr2opE9ZDdUolGS5hfnws8vl6iZYt2DrhGvl6T1Px+Hd8+zSyTE
        +lj6s3KmmQaALWx83ClV46Xdrj6IPam8q09O47Kq8u0j64SMYqVwWM5ydFcJBwqr
        gpHvDXyDAgMBAAECggEACPEKBvqrauwfQKrL8OKZpilugDnuwRWD8UJGkPT+H9pZ
        pZJ8/yFB7T/M2oRWyPxgbbarYYEBo4TTu6p7YV+VPPJjsYsXzWLw22hW0gjEdZlC
        jhtX3+Zt880mZ0IS8h1W0udcdaEyzYm5gHxpqxYSqzmmPETInlrEbNoptBP0yGZD
        2JL8KOsaA+13+ksXCuEhUhjk0xJkvZZKOVlWKDfpmK6dvXL+5N323Vhj/mFGXLNv
        JW9XKKFvYB6fUuwoir4iBMlXb8k4rbmQu/huDUj2FqlL5M8uGyD8oYpECM1A+O8V
        PgkglQmZxUm3FlqABL6VoLSa64fCVkunxl7tW4c5rQKBgQDa1GPJbs6yLgwwQG5U
        zJnkH3enQCJSkilU49j1zEk/euElNAVwsOwcpT8u8sZZN0ETquIWgM1jeS9wMG4G
        InWa3fN0uLaTE9XIoeUvbtnmqFVMv0Q+R2a+quh7tChpTdC2sITufFXSi2emIOaD
        08mctAJTBScX7ehp8quRZ09U/QKBgQC2DvoWLIIwTPv++R2/irQibeQuznZUJ/sG
        Z8SDknjS77q/siRZKgSoPgva4advTPCGZ75h3fc9+8tyYxeP5GFzx7pVK8hPSeHE
        DPnmBZx4Z68jok/yU5HrQszT0NmSluqTLftNISIY5hjdsoTBrodmiUPHDUKDh6AR
        VqeicO2PfwKBgGMPEBjoSzMHe0cAc7F5aRSGViDk/GSKe6FM/zLNhj7xPigcM3Y+
        8LNK7p4vEjDivVfM3Em5hsBH5HyRv8yRHtG7NXEaCLPtn7IR73CYapVqkCqMzrSu
        l8kqDtGozT5WFmwM3jAjIqqLpqDiddcpMTP5nK++PmMrtDD5xEavEI91AoGASxw2
        tTs7ou2/8VuZmFKDKsknoN/xFZtBB018V8PwMSZSZ4/5Swf4z+h5P55lU5fsi6b1
        dq76uAnPz6tuJyFTy06VY1oi1ANpL1cjKnEaMtqj+RGX5iPwSZ1Pn/vEJ6Q3tuz7
        hsCqrpcPnzdtafK1TepHmjGwRU+JDF4x3uS0PcUCgYAJ5h8e+pIU/JkdPyyg1+AB
        dimQ+96YGtepS/8ubN/2/zNDFII9FDOOdV81CNzpzWxFD7yfVqvSRG5mzqROqqy5
        6GBnX+aj1dmnGWnkgzwRMkQpIqSLjbOoSmwt1srGuFfbrY+pdT+oRmJfKdq5pKhu
        jyMkf0J2mBY7WMmJLYEPnQ==
        -----END PRIVATE KEY-----
        """

    static let rsaPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAm5/MVQeKFcrHdKH7sf0/
        uGqlhZZZVZQKYu8X+xM2I9xXbJ3D8VUWgPNCekBVwIMsKa6PQfA8rc2SX2YEAFZi
        I6rKHeYwXtKRcexeHhbx2ZGrc2YURrnLdnjTDiO00hhVra6T76kB/NctZQ4MrePE
        8NOrsTS3GENb21Pl6O4CIbryEA5HNdTFuYJ79uRQTWP/ohMwK2/hkUAvFIRR38yy
        +JPVIX8q9qKRPWQ3VKJRkuYX58LPL5eomWLdg64Rr5ek9T8fh3fPs0skxPpY+rNy
        ppkGgC1sfNwpVeOl3a4+iD2pvKtPTuOyqvLtI+uEjGKlcFjOcnRXCQcKq4KR7w18
        gwIDAQAB
        -----END PUBLIC KEY-----
        """

    /// A P-256 key.
    static let ecPrivate = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1T91auE7p1fdFndZ
        M/TajKw5AF6V/S4SIbr6ugNfoUihRANCAATj37epWMu8fkGOZQyRKirpX/Dc1xbK
        hVKfdCoY4jCeX2MLRTPiGF5hKEhnb0a0Nm84joix7CEKy6gVCDLbkYEa
        -----END PRIVATE KEY-----
        """

    static let ecPublic = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE49+3qVjLvH5BjmUMkSoq6V/w3NcW
        yoVSn3QqGOIwnl9jC0Uz4hheYShIZ29GtDZvOI6IsewhCsuoFQgy25GBGg==
        -----END PUBLIC KEY-----
        """

    /// A certificate for it.
    static let ecCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBczCCARugAwIBAgIUZc9ccsLQKGSxKCgndssWQvtaBTgwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjExMzM1NTJaGA8yMTI2MTAyODEzMzU1
        MlowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOPf
        t6lYy7x+QY5lDJEqKulf8NzXFsqFUp90KhjiMJ5fYwtFM+IYXmEoSGdvRrQ2bziO
        iLHsIQrLqBUIMtuRgRqjUzBRMB0GA1UdDgQWBBT9VAI46L9/LPachMiWgeWw0cLc
        ozAfBgNVHSMEGDAWgBT9VAI46L9/LPachMiWgeWw0cLcozAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0YAMEMCIBj6UDxjpIdFGEIWGhNdjYusSi/i56FqmlMG
        7rvdk+sIAh8YOGNNFORpUY6g/O63TuVZhA/posoCdRxJKCOoC8XZ
        -----END CERTIFICATE-----
        """

    /// An Ed25519 key.
    static let edPrivate = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIKWg9osA0TOWqKaePG2VNurQpMuIS2qEe0+QrFsxt2/9
        -----END PRIVATE KEY-----
        """

    static let edPublic = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA9c9mizlqFWKktVn+aDBhtM5/uRXrNHaiZOmUOL9/4gA=
        -----END PUBLIC KEY-----
        """

    /// A key of a curve that is not supported.
    static let p384Public = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEiJ/vmKfJQzzm2IUjUahL+Dwncc946bGn
        IV6HRHyrRMiMcN/R06jK5vpSPUiw2+50zEHRigT28UfDs/4v/Bhh4GYUPZRxhxwE
        u0mdSNYb3tKDWqXsKrWRhaaQD7IM/FCQ
        -----END PUBLIC KEY-----
        """

    /// An RSA key of 1,024 bits.
    static let smallPublic = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC9XRp/vAIiRnTu5aqOyv7BBbpc
        m9N1lDnt2v/1DYqQfrkZED3ULXOYwZDiJnS5Zj6q4ILEL31WU76xy9LA/AG7l6k4
        JYC0Mp4rgOqcJyg7jdn9JIzj6qlwlkk6AZxMOQ/dhk2wkg1yeXmBKb+hN13rtHXk
        fq1UYcF/BzVBwyQnZwIDAQAB
        -----END PUBLIC KEY-----
        """
}
