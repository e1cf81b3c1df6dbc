import Testing

@testable import Containers

@Suite struct ByteSlabTests {
    private func bytes(of ref: SlabRef, in slab: borrowing ByteSlab) -> [UInt8] {
        var bytes: [UInt8] = []
        slab.append(ref, to: &bytes)
        return bytes
    }

    @Test func `every length from 0 to 255 comes back whole`() {
        var slab = ByteSlab()
        var refs: [SlabRef] = []
        for length in 0...255 {
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &+ length) }
            refs.append(slab.insert(content.span))
        }
        slab.checkInvariants()
        for length in 0...255 {
            let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &+ length) }
            #expect(bytes(of: refs[length], in: slab) == content)
            #expect(slab.byteCount(of: refs[length]) == length)
            #expect(slab.equals(refs[length], content.span) == true)
        }
    }

    @Test func `equals sees every byte and the length`() {
        var slab = ByteSlab()
        let content = Array("a device".utf8)
        let ref = slab.insert(content.span)
        for index in content.indices {
            var other = content
            other[index] ^= 1
            #expect(slab.equals(ref, other.span) == false)
        }
        let longer = content + [0]
        let shorter = Array(content.dropLast())
        #expect(slab.equals(ref, longer.span) == false)
        #expect(slab.equals(ref, shorter.span) == false)
    }

    @Test func `a unit is reused by the next string of its class alone`() {
        var slab = ByteSlab()
        let first = Array("nine byte".utf8)
        let second = Array("ten  bytes".utf8)
        let other = Array("short".utf8)
        let firstRef = slab.insert(first.span)
        slab.remove(firstRef)
        let otherRef = slab.insert(other.span)
        let secondRef = slab.insert(second.span)
        #expect(secondRef.unit == firstRef.unit)
        #expect(bytes(of: secondRef, in: slab) == second)
        #expect(bytes(of: otherRef, in: slab) == other)
        slab.checkInvariants()
    }

    @Test func `no string and the empty string differ`() {
        var slab = ByteSlab()
        let reserved = slab.bytesReserved
        let content: [UInt8] = []
        let ref = slab.insert(content.span)
        #expect(ref != SlabRef.none)
        #expect(slab.byteCount(of: ref) == 0)
        #expect(slab.equals(ref, content.span) == true)
        slab.remove(ref)
        #expect(slab.bytesReserved == reserved)
        slab.checkInvariants()
    }

    @Test func `size classes waste at most a quarter`() {
        var indexes: Set<Int> = []
        for byteCount in 1...256 {
            let size = SizeClass(byteCount: byteCount)
            indexes.insert(size.index)
            #expect(size.unitBytes >= byteCount)
            if byteCount >= 8 { #expect(size.unitBytes * 4 <= byteCount * 5) }
        }
        #expect(indexes == Set(0..<SizeClass.count))
    }

    @Test func `a reference that was removed twice or is none is rejected`() async {
        await #expect(processExitsWith: .failure) {
            var slab = ByteSlab()
            let content: [UInt8] = [1]
            let ref = slab.insert(content.span)
            slab.remove(ref)
            slab.remove(ref)
        }
        await #expect(processExitsWith: .failure) {
            let slab = ByteSlab()
            _ = slab.byteCount(of: .none)
        }
        await #expect(processExitsWith: .failure) {
            var slab = ByteSlab()
            let content = [UInt8](repeating: 1, count: 256)
            _ = slab.insert(content.span)
        }
    }
}
