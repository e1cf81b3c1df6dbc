/// Which certificate is for which name: an exact name first, then one with a wildcard for the first
/// label (RFC 6125, 6.4.3). If several are for a name, the first one is used.
struct ServerNames: Sendable {
    private var exact: [String: Int] = [:]
    /// By what follows the `*`, such as `.example.com`.
    private var wildcards: [String: Int] = [:]

    /// The names of each certificate, in lower case.
    init(_ names: [[String]]) {
        for (number, names) in names.enumerated() {
            for name in names {
                if name.hasPrefix("*.") {
                    let suffix = String(name.dropFirst())
                    if wildcards[suffix] == nil { wildcards[suffix] = number }
                } else if exact[name] == nil {
                    exact[name] = number
                }
            }
        }
    }

    /// The position of the certificate for `name`.
    func find(_ name: String) -> Int? {
        var name = name.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        if let number = exact[name] { return number }
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex else { return nil }
        return wildcards[String(name[dot...])]
    }
}
