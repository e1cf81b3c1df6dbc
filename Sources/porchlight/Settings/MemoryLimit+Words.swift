import EventLoop
import PresenceServer

extension MemoryLimit {
    /// With less memory the service does not start: a service without clients uses half of it.
    static let bytesMin: UInt64 = 80 << 20

    /// Does not serve where the kernel would soon end the process.
    func check() throws(SettingsError) {
        guard bytes < Self.bytesMin else { return }
        throw SettingsError(
            "The memory of the process is limited to \(bytes) bytes by \(source.words), and at "
                + "least \(Self.bytesMin) are needed: raise that limit.")
    }

    /// What `memory-bytes-max: auto` is: `107374182 bytes, 80 % of memory.max of /GROUP`.
    var automaticMax: String {
        let bytes = AdmissionLimits().memoryBytesMax(within: self)
        return "\(bytes) bytes, \(AdmissionLimits.memoryPercent) % of \(source.words)"
    }
}

extension MemoryLimit.Source {
    /// `memory.max of /GROUP`
    fileprivate var words: String {
        switch self {
        case .machine: "the machine's memory"
        case .group(let path, let file): "\(file) of \(path)"
        }
    }
}
