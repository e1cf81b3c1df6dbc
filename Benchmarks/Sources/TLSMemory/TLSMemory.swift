// What an idle TLS connection takes on the server's side: the slope of resident memory from 1,000
// to 10,000 sessions, after a handshake and a record each way. Fails above 15 KB.

import Glibc
import Operations

private let bytesMax = 15_000.0

/// Bytes of the process that are in memory.
private func residentBytes() -> Double {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, CInt(line.count), file) != nil else { return 0 }
    let words = String(decoding: line.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
        separator: " ")
    return (words.count > 1 ? Double(words[1]) ?? 0 : 0) * Double(sysconf(Int32(_SC_PAGESIZE)))
}

@main
struct TLSMemory {
    static func main() {
        let world = TLSWorld()
        var ends: [TLSEnd] = []
        ends.reserveCapacity(10_000)
        func grow(to count: Int) -> Double {
            while ends.count < count { ends.append(world.connectAndTalk()) }
            return residentBytes()
        }
        let few = grow(to: 1_000)
        let many = grow(to: 10_000)
        let each = (many - few) / 9_000
        print("an idle TLS connection: \(Int(each.rounded())) bytes (at most \(Int(bytesMax)))")
        exit(each <= bytesMax ? 0 : 1)
    }
}
