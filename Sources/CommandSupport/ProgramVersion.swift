/// The version of both programs and of their Debian packages. Nothing else states it.
public let programVersion = "0.2.0"
