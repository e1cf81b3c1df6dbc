// Certificates for tests only: their keys are public. Made with openssl, valid until 2125 except
// where it says so.

/// Certificates and keys in PEM.
public enum TestPEM {
    /// Signs all others.
    public static let root = """
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
    public static let first = """
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
    /// The key of `first`.
    public static let firstKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw2Af+JzwdXl/sj06
        s6OQvZTmumsMXIaQ58Pzn2YHQLmhRANCAATPLDgJ8y9V3aWm3vqR/eModyjt8QNp
        TaaDGAeifxIgRdFozwDuGF6jCusjIA0+033Fd8RvWU4oeOJpFpTLRDQH
        -----END PRIVATE KEY-----
        """
    /// A certificate.
    public static let firstKeyEncrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjjyqo6R4gs6AICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIlrq4PS+TzK5koncTRTrP0EgZAr
        2RRXlpF18oY6ArjnHpklHEDnGCztIAOdmhy9wtcP6vCjXdLeFcvYUhDzmfSiM6z/
        tmgrjrABkoQ9pYf6LjG3598fUvaIp3bClVXBeZBty8kbIwAF8vBjkxswJ5CKLW5T
        aCma7FwUnaUhMzuJD9p8PX93fZBhhMf+KExvuagKwNftfRSkzNAjmlwXvk1WwzE=
        -----END ENCRYPTED PRIVATE KEY-----
        """
    /// RSA, for `two.example` and `*.two.example`.
    public static let second = """
        -----BEGIN CERTIFICATE-----
        MIICXDCCAgKgAwIBAgIIYx68uMBKMWwwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJ
        VGVzdCByb290MCAXDTI2MDEwMTAwMDAwMFoYDzIxMjUxMjA4MDAwMDAwWjARMQ8w
        DQYDVQQDDAZzZWNvbmQwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDa
        UUge7yxVobA5Uxx6iyoXbx01eNndZreBIJWut0weXrovcnq4NQ72XOoCmL1Z8Jb/
        kxQqQw5vOfdyzD0GWwbJwKpMBt/L+uP8AS7/qpJZ8j+XFMEO8Kz7HM6rYzTrQD+h
        /oE7g9CGuTXHaqJKFfGGhRKwUzcIfUzb1kIR3Nz6edLKJ0Fk/SWaEBFXvvIwx05e
        eQeGeLrhgei7UZQiy0gdclBwzG/04EkaFNjXruvhmKhqY2a+NVM0FL7Osm7wOgkf
        hMbgVroDE+ZFNqjye1POx2vEorc9xrJpygf7AG33/4i5AbvqU7zAh5RseFzA2D+i
        f08Dg0fbuijW+Xghh9XPAgMBAAGjdDByMAkGA1UdEwQCMAAwJQYDVR0RBB4wHIIL
        dHdvLmV4YW1wbGWCDSoudHdvLmV4YW1wbGUwHQYDVR0OBBYEFKUV3FC53JdLrwy/
        d0smkfnKR1PVMB8GA1UdIwQYMBaAFBfBNZEVEYMcca/EEu3Z2DKr5zsNMAoGCCqG
        SM49BAMCA0gAMEUCIBg5gpAx6z44t/VbvntGHyMuC8AmafcOfjyuUgfErONeAiEA
        qgM/YjCSS6cthMO13+0ZQttSdvMIrVZQkjFpaNxypB0=
        -----END CERTIFICATE-----
        """
    /// The key of `second`.
    public static let secondKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDaUUge7yxVobA5
        Uxx6iyoXbx01eNndZreBIJWut0weXrovcnq4NQ72XOoCmL1Z8Jb/kxQqQw5vOfdy
        zD0GWwbJwKpMBt/L+uP8AS7/qpJZ8j+XFMEO8Kz7HM6rYzTrQD+h/oE7g9CGuTXH
        aqJKFfGGhRKwUzcIfUzb1kIR3Nz6edLKJ0Fk/SWaEBFXvvIwx05eeQeGeLrhgei7
        UZQiy0gdclBwzG/04EkaFNjXruvhmKhqY2a+NVM0FL7Osm7wOgkfhMbgVroDE+ZF
        Nqjye1POx2vEorc9xrJpygf7AG33/4i5AbvqU7zAh5RseFzA2D+if08Dg0fbuijW
        +Xghh9XPAgMBAAECggEACvTTUsIcDnwb1PSn1DqRtTVdWOakwGi8Qt24xVjrmAaW
        /3SWVhJLmu+UyuaRcicR3OertmdBHTHiij9XvK7qy0tBAKnDp4AC2w3QJwKPb7Yp
        nNJs0ewgMkYC1TUYXcoOp3mXUL5Pw8MdwNFILcGmKmMZSgITG/j1136MOEtGR8en
        naXBZZWJnxz9QJK4x3JOeKPdL/0BKN/nSRSbXM2+f7hu3Owa7zgFMdcbvbHbxfqc
        BfwOo5qWJIFH9983HQMCEJe9Z2f1KSd3G1qvKmJoJJEZthpT8oUCsqWpQKZxDtmn
        UzwfVq1Eom/GkRad59xZ8KX5fgC9W10WqUMvXgolMQKBgQD2cEsC/CiThih22MTZ
        1VZbCNmvwR6lLpaBLvA+3pw5WVM1VXwTnRpta+CdJrl3gQsLSS16ba1lANT2oetZ
        JrwHqqREdJuur1kWITSs/eTWChO8qaxyre2jWY0RZISM7SpzCJ9cY1wsFCsLKa3g
        aifAL9opHgxAm3KvWjFxZqkMCQKBgQDiya49Xwc5ryNuKfuf2u26DUmU9fvkhDao
        nq4LSnrsZ5SrYrD3IcI+2nf7fhX0CiBVPdkEZFyEpgXp3ZrgOAI940M0ayhbzMrn
        lUY0iUlQyBuShiNUm5qyJ6N64indDMz56RdfiveeZTAreuVW3Nt6d2ZS9vW3TmkY
        8ceWjUv5FwKBgQDKVn6wT7s9DQzSL77In+oMSqL5NBXmR+8Y2CI3bG1WhOnVw39h
        Vz9okgdU4IOtBA2+UXH+sGiKonk4ms9yXmRJ4yiGcDuW3K/HhLIMS1YFCzcTUzic
        3ANeeFtj6WUPlHajBnRZ1dbK9jA1NR5nQKGsoV19HweuUDOEmAg6dLDdiQKBgBQ/
        Q0IRaNi6jSQ5tVBJQG4a35Xf/DQjpamaORmi9aSDft9qOThnGCt6X7nhQN5/xPE3
        S1e8ChKBrAd8FGauOW0DDC3y3zCK8RaJ2jG4jAYdR3DmbuMP3VjIdyzyYiBtEyPA
        rqiGBKNsj0dienUt1J5zaHxBtiA+bN2gQFxtkvnTAoGAPnZWdsSRHKh0rLszP8SL
        s12rS/KZPiCDsJCu4x0m7TQPZSVZbiV2frhpU+9bTRIiTelXaAmO1G8CP2SUJUAZ
        wzA3klrdSVCBeB2kJtQ0Or8ecrUN/DFLvWP6z7V6YZ2N8fIWdfyYg+XW5Iu5Llvc
        cPgo2mJzBTQ7OfLVp/pVVUw=
        -----END PRIVATE KEY-----
        """
    /// P-256, for `three.example`, signed by the intermediate.
    public static let third = """
        -----BEGIN CERTIFICATE-----
        MIIBizCCATKgAwIBAgIJAMDCbnd+eGeCMAoGCCqGSM49BAMCMBwxGjAYBgNVBAMM
        EVRlc3QgaW50ZXJtZWRpYXRlMCAXDTI2MDEwMTAwMDAwMFoYDzIxMjUxMjA4MDAw
        MDAwWjAQMQ4wDAYDVQQDDAV0aGlyZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
        BHN/TXibTm7bF//2EfiW03nUBY5hQHiAmKZVp1D5mUwk6N6s8bdm8slf6StmPC14
        jfji9VNzAF/uCL6iKwi6lCmjZzBlMAkGA1UdEwQCMAAwGAYDVR0RBBEwD4INdGhy
        ZWUuZXhhbXBsZTAdBgNVHQ4EFgQUX4o2cIUzcF17P4KN9VB7MNrg4CswHwYDVR0j
        BBgwFoAUIl6udTeRlpC6rwM6jE3b/NKIf5EwCgYIKoZIzj0EAwIDRwAwRAIgPhh5
        /dBibgEhPxBAo9UdSvhgHMjM/Td4rzoL0CHefzACICL1bVeTzeEdYPlL6e6449Bg
        a187fW+MJaI1nzAkT8Ge
        -----END CERTIFICATE-----
        """
    /// A certificate.
    public static let intermediate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARqgAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlUZXN0IHJv
        b3QwIBcNMjYxMTIyMDYyNjM5WhgPMjEyNjEwMjkwNjI2MzlaMBwxGjAYBgNVBAMM
        EVRlc3QgaW50ZXJtZWRpYXRlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmRwc
        HJdDlMkgMw7C1b2hyijpaa8Zt2HyHNieH+Cswz5VkWMjtqFK57SiuY797XmkQx+I
        GG903YKd5FgskirHPKNTMFEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUIl6u
        dTeRlpC6rwM6jE3b/NKIf5EwHwYDVR0jBBgwFoAUF8E1kRURgxxxr8QS7dnYMqvn
        Ow0wCgYIKoZIzj0EAwIDSAAwRQIhAI4DrUHKbdH/vTwY9y+dZT9xXyl0pK+PHdwR
        PCV8pwaSAiArWyp7WmKZUiuXTxs6+yXPK/Tm9Q1khjwVbTrjzPtwqQ==
        -----END CERTIFICATE-----
        """
    /// The key of `third`.
    public static let thirdKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7/NPIpT/u9nUZruC
        9cEPuArYdhCc7ltipTBjkHFTyhGhRANCAARzf014m05u2xf/9hH4ltN51AWOYUB4
        gJimVadQ+ZlMJOjerPG3ZvLJX+krZjwteI344vVTcwBf7gi+oisIupQp
        -----END PRIVATE KEY-----
        """
    /// For `old.example`; expired in 2020.
    public static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBgTCCASigAwIBAgIJANlVKp8HIZzJMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMM
        CVRlc3Qgcm9vdDAeFw0yMDAxMDEwMDAwMDBaFw0yMDEyMzEwMDAwMDBaMBIxEDAO
        BgNVBAMMB2V4cGlyZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQU4PII/XCz
        ZdeRJbNZFVh3JJo6rDSw3rnRFPw30oWsJk16YuS0wjbbng8FIJPljThWZ0vajKuc
        8uEW9rB1jSC1o2UwYzAJBgNVHRMEAjAAMBYGA1UdEQQPMA2CC29sZC5leGFtcGxl
        MB0GA1UdDgQWBBQY+ac+B72CIhso4DXndK5spfvSdDAfBgNVHSMEGDAWgBQXwTWR
        FRGDHHGvxBLt2dgyq+c7DTAKBggqhkjOPQQDAgNHADBEAiB/cbRJU/r4jITytHFF
        PdxgnJn9FiXjwn5FQRyH1auhRQIgTzrwJEs2YbI4FyxzJ7zB9y9oDdmabYd4tOVg
        RR7gpPc=
        -----END CERTIFICATE-----
        """
    /// The key of `expired`.
    public static let expiredKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB2/FfpbHJiFYKb52
        zxNWOB7KtbkqChSNbvnAS2M7IaWhRANCAAQU4PII/XCzZdeRJbNZFVh3JJo6rDSw
        3rnRFPw30oWsJk16YuS0wjbbng8FIJPljThWZ0vajKuc8uEW9rB1jSC1
        -----END PRIVATE KEY-----
        """
    /// RSA of 1,024 bits, for `weak.example`.
    public static let weak = """
        -----BEGIN CERTIFICATE-----
        MIIByDCCAW+gAwIBAgIJAMFuVw4hOPF2MAoGCCqGSM49BAMCMBQxEjAQBgNVBAMM
        CVRlc3Qgcm9vdDAgFw0yNjAxMDEwMDAwMDBaGA8yMTI1MTIwODAwMDAwMFowDzEN
        MAsGA1UEAwwEd2VhazCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEA5mUnFLCS
        8MXYcyW6eu1w65kxPLIiseGxA69amgOh58xhtilZgEpERvaJgFrjLSCLqtTfjlzh
        gdhKy4r5nk5wjSDglotTqjSn52JwtL7n+BCHYQoIBNq2kYDBSL7vMZ/1yLbWZb/E
        vkZm3Jy15KuZCka+/cV8wkeYk1VvyuTQdg0CAwEAAaNmMGQwCQYDVR0TBAIwADAX
        BgNVHREEEDAOggx3ZWFrLmV4YW1wbGUwHQYDVR0OBBYEFDBh9ZTZHNgWlvgUDdgL
        s4Rvd5ThMB8GA1UdIwQYMBaAFBfBNZEVEYMcca/EEu3Z2DKr5zsNMAoGCCqGSM49
        BAMCA0cAMEQCIHYP25osKflplJRW7oxOx4hmY2Q9T9AYaqYU8yFBTyKuAiAcG0mB
        8cB6KvaOz8hrrWKKyG0Sz8hKSEE70DlGb3FQDA==
        -----END CERTIFICATE-----
        """
    /// The key of `weak`.
    public static let weakKey = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAOZlJxSwkvDF2HMl
        unrtcOuZMTyyIrHhsQOvWpoDoefMYbYpWYBKREb2iYBa4y0gi6rU345c4YHYSsuK
        +Z5OcI0g4JaLU6o0p+dicLS+5/gQh2EKCATatpGAwUi+7zGf9ci21mW/xL5GZtyc
        teSrmQpGvv3FfMJHmJNVb8rk0HYNAgMBAAECgYEAlr9+t7HlIzdAre70ujQcG3uL
        1Nv1iZBTo0acMIPJ7wIyuN8LWb6+N/Rd+ab+V+uglzFb6Slqv+vG3LFdLLDEQMUw
        bLgu1e0iWymwF25RKhVTC8zdVPGuZKmddsBgMUAutZfqtEO5hmhMtUU6ksKYjhIY
        lY7+fiHk2x6+lm9ZXgECQQD9yM9YrXmddIYjeqlrDoLpHSkcatXeWj/69gTMja5C
        gxuHb8KjmWzt4lgRQagdk4hZH8xlFE94hbEbVeJtpaKBAkEA6GgRv2mowtoK+RrA
        zSylt5Js/XtDWXLvz7nRoMb1MWbGDW+OJZK/VRJ/xOR3gfLB+f/u1+W/DLC3/1up
        ItF1jQJAW99PWK3sQdkGGl/0ZwIo2BUrZdMzOzx2vvZDBH4h4Igv9ha6YplPOsre
        0Nhw8MwQ5xrA1rLElj/nvpqXztPQgQJBAK3/TFpMlsbbTB/YQcTaym83t1XH9VKA
        1L5m1mVSz7vewCTLAldrGMhugy48BqVJxKSRUpZdMb4kiH0seOLSgvkCQQDZJCvT
        c+AhINkAmjlXqMRYMira2YFNOzpNGHE1+00oHQRZAfAgOi1kXKoKWFDj44g8VZBQ
        qgarI3/wcmaIyN6b
        -----END PRIVATE KEY-----
        """
}
