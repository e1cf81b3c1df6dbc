// Writing. The kernel is tried first, without a request and without a copy; in most turns that is
// all. What the kernel does not accept is copied once, into one allocation that contains libuv's
// request and the bytes, and that the write callback frees. There is at most one such remainder per
// stream: what follows waits in its owner's outbox, where it can still be conflated.
//
// The kernel is tried with `send` on the socket, not with uv_try_write. The latter reads libuv's
// handle, which is in no cache during a fan-out; and it calls `write`, whose path in the kernel is
// that of all files, which is longer than that of sockets. Nothing of libuv's is pending then, so
// nothing is overtaken. (What libuv itself writes later needs SIGPIPE to be ignored.)

import CLibUV
import Glibc

extension Loop {
    /// Bytes of a pending remainder that the kernel has not accepted yet.
    public func bytesPending(_ id: StreamID) -> Int {
        guard let index = streams.index(of: id), let tcp = unsafe streams[index].tcp else {
            return 0
        }
        return unsafe uv_stream_get_write_queue_size(cuv_tcp_stream(tcp))
    }

    /// Writes bytes to the kernel, and keeps a copy of what it does not accept.
    ///
    /// For a stale id, or one that is being closed, returns `.failed` with ECANCELED. Writing again
    /// while a remainder is pending is a programming error.
    public func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        // Read once: each use of a property of an object is checked for overlaps.
        guard let (index, stream) = streams.find(id), stream.phase == .open else {
            return .failed(UVError(code: UV_ECANCELED.rawValue, operation: "send"))
        }
        precondition(
            !stream.activity.contains(.writePending), "write while a remainder is pending")
        guard unsafe !bytes.isEmpty else { return .written }

        // What is written before the connection is established waits for it.
        let isConnecting = stream.activity.contains(.connecting)
        let taken =
            unsafe isConnecting ? 0 : send(bytes, stream.descriptor ?? findDescriptor(index))
        if taken == bytes.count { return .written }
        guard taken >= 0 else { return failed(index, CInt(taken), "send") }
        return unsafe writeRemainder(index, bytes[taken...])
    }

    /// The bytes that the kernel has accepted, or libuv's error code.
    private func send(_ bytes: UnsafeRawBufferPointer, _ descriptor: CInt) -> Int {
        while true {
            let taken = unsafe Glibc.send(
                descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
            if taken >= 0 { return taken }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return 0
            default: return Int(uv_translate_sys_error(errno))
            }
        }
    }

    /// Milliseconds since bytes of the peer last arrived in the kernel, read or not; nil if that is
    /// not known, as for a socket that is not TCP.
    ///
    /// One system call (tcp(7), `TCP_INFO`).
    public func millisecondsSinceReceived(_ id: StreamID) -> UInt64? {
        guard let index = streams.index(of: id), streams[index].phase == .open else { return nil }
        var info = tcp_info()
        var byteCount = socklen_t(MemoryLayout<tcp_info>.size)
        let descriptor = streams[index].descriptor ?? findDescriptor(index)
        guard
            unsafe getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &byteCount) == 0
        else { return nil }
        return UInt64(info.tcpi_last_data_recv)
    }

    /// What has become of the bytes of a stream; nil if that is not known, as for a socket that is
    /// not TCP.
    ///
    /// A few system calls (tcp(7), `TCP_INFO` and `SIOCOUTQ`).
    public func delivery(_ id: StreamID) -> SocketDelivery? {
        guard let descriptor = descriptor(of: id) else { return nil }
        var (handed, acknowledged): (UInt64, UInt64) = (0, 0)
        var milliseconds: UInt32 = 0
        guard
            unsafe cuv_tcp_delivery(descriptor, &handed, &acknowledged, &milliseconds) == 0
        else { return nil }
        return SocketDelivery(
            bytesHanded: handed, bytesAcknowledged: acknowledged,
            millisecondsSince: UInt64(milliseconds))
    }

    /// The stream's socket, until it is closed; nil if the stream is not open.
    public func descriptor(of id: StreamID) -> CInt? {
        guard let index = streams.index(of: id), streams[index].phase == .open else { return nil }
        return streams[index].descriptor ?? findDescriptor(index)
    }

    /// The stream's socket, which stays the same until the stream is closed. Without one, a number
    /// that `send` rejects.
    private func findDescriptor(_ index: Int) -> CInt {
        var descriptor: CInt = -1
        guard let tcp = unsafe streams[index].tcp,
            unsafe uv_fileno(cuv_tcp_handle(tcp), &descriptor) == 0
        else { return -1 }
        streams[index].descriptor = descriptor
        return descriptor
    }

    private func writeRemainder(
        _ index: Int, _ bytes: Slice<UnsafeRawBufferPointer>
    ) -> WriteOutcome {
        guard let tcp = unsafe streams[index].tcp else {
            return failed(index, UV_ECANCELED.rawValue, "uv_write")
        }
        let request = unsafe PendingWrite.allocate(bytes)
        var buffer = unsafe PendingWrite.buffer(of: request, bytesCount: bytes.count)
        let failure = unsafe uv_write(request, cuv_tcp_stream(tcp), &buffer, 1, streamWritten)
        guard failure == 0 else {
            unsafe PendingWrite.deallocate(request)
            return failed(index, failure, "uv_write")
        }
        streams[index].activity.insert(.writePending)
        return .pending(bytes: unsafe bytes.count)
    }

    private func failed(
        _ index: Int, _ code: CInt, _ operation: StaticString
    ) -> WriteOutcome {
        endReading(index)
        streams[index].activity.insert(.ended)
        return .failed(UVError(code: code, operation: operation))
    }

    fileprivate func written(_ slot: UInt32, _ status: CInt) {
        let index = Int(slot)
        streams[index].activity.remove(.writePending)
        // uv_close cancels what is pending; the owner knows that it closed.
        guard streams[index].phase != .closing else { return }
        if status < 0 {
            finish(index, .failed(UVError(code: status, operation: "uv_write")))
        } else if streams[index].phase == .open {
            // Also after the peer's FIN: it may still be reading.
            handler?.streamDrained(streams.id(slot))
        }
    }
}

/// A remainder: libuv's request and, behind it in the same allocation, the bytes.
private enum PendingWrite {
    static func allocate(
        _ bytes: Slice<UnsafeRawBufferPointer>
    ) -> UnsafeMutablePointer<uv_write_t> {
        let headerBytes = unsafe MemoryLayout<uv_write_t>.stride
        let memory = unsafe UnsafeMutableRawPointer.allocate(
            byteCount: headerBytes + bytes.count, alignment: MemoryLayout<uv_write_t>.alignment)
        unsafe UnsafeMutableRawBufferPointer(start: memory + headerBytes, count: bytes.count)
            .copyBytes(from: bytes)
        return unsafe memory.bindMemory(to: uv_write_t.self, capacity: 1)
    }

    static func buffer(
        of request: UnsafeMutablePointer<uv_write_t>, bytesCount: Int
    ) -> uv_buf_t {
        let start = unsafe UnsafeMutableRawPointer(request) + MemoryLayout<uv_write_t>.stride
        return unsafe uv_buf_t(
            uncheckedWriting: UnsafeRawBufferPointer(start: start, count: bytesCount)[...])
    }

    static func deallocate(_ request: UnsafeMutablePointer<uv_write_t>) {
        unsafe UnsafeMutableRawPointer(request).deallocate()
    }
}

extension uv_buf_t {
    /// A buffer that libuv will only read from.
    fileprivate init(uncheckedWriting bytes: Slice<UnsafeRawBufferPointer>) {
        let start = unsafe UnsafeMutableRawPointer(
            mutating: UnsafeRawBufferPointer(rebasing: bytes).baseAddress)
        unsafe self.init(
            base: start?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}

// MARK: - Trampolines

private func streamWritten(_ request: UnsafeMutablePointer<uv_write_t>?, _ status: CInt) {
    guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
    unsafe withLoop(of: stream) { $0.written(unsafe cuv_slot(stream), status) }
    unsafe PendingWrite.deallocate(request)
}
