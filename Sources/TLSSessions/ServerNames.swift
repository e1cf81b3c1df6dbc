import Containers

/// Which certificate is for which name: an exact name first, then one with a wildcard for the first
/// label (RFC 6125, 6.4.3). If several are for a name, the first one is used.
struct ServerNames: Sendable {
    private var exact: [ExactText: Int] = [:]
    /// By what follows the `*`, such as `.example.com`.
    private var wildcards: [ExactText: Int] = [:]

    /// The names of each certificate, in lower case.
    init(_ names: [[String]]) {
        for (number, names) in names.enumerated() {
            for name in names.map({ name in ExactText(name) }) {
                if name.hasPrefix("*.") {
                    let suffix = ExactText(String(name.text.dropFirst()))
                    if wildcards[suffix] == nil { wildcards[suffix] = number }
                } else if exact[name] == nil {
                    exact[name] = number
                }
            }
        }
    }

    /// The position of the certificate for `name`.
    func find(_ name: String) -> Int? {
        var name = ExactText(name).lowercasedASCII
        if name.hasSuffix(".") { name = ExactText(String(name.text.dropLast())) }
        if let number = exact[name] { return number }
        guard let dot = name.text.firstIndex(of: "."), dot > name.text.startIndex else {
            return nil
        }
        return wildcards[ExactText(String(name.text[dot...]))]
    }
}
