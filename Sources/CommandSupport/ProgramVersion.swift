/// The version of both programs and their Debian packages; a test has the SDK have the same one.
public let programVersion = "0.2.0"
