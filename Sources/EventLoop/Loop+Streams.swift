// Reading and closing of connections. Each stream's end is reported once: by `streamEnded`, or by a
// `write` that returned `.failed`. After `close` only `streamClosed` is called.

import CLibUV
public import Containers

extension Loop {
    /// Starts reading; ignored after the stream's end, and before `streamConnected`.
    public func startReading(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase == .open else {
            return
        }
        beginReading(index)
    }

    /// Stops reading: the stream's bytes stay in the kernel, and the peer finally cannot send more.
    ///
    /// The stream's end, too, is reported only while reading.
    public func stopReading(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase == .open else {
            return
        }
        endReading(index)
    }

    /// Closes the stream now; what waits to be written is dropped.
    ///
    /// Idempotent. If the peer has sent bytes that were not read, it receives RST and may lose the
    /// last bytes written. Use `closeAfterWrites` for bytes that must arrive.
    public func close(_ id: StreamID) {
        guard let index = streams.index(of: id) else { return }
        closeStream(index)
    }

    /// The peer as `127.0.0.1:51234` or `[::1]:5000`; nil if it is disconnected.
    ///
    /// One system call.
    public func peerAddress(of id: StreamID) -> String? {
        guard let index = streams.index(of: id), streams[index].phase != .closing,
            let tcp = unsafe streams[index].tcp
        else { return nil }
        return unsafe SocketAddress.peer(of: tcp)?.listenAddress.description
    }

    /// The network of the peer, for limits; nil if it is disconnected or not connected over IP.
    ///
    /// One system call.
    public func peerNetwork(of id: StreamID) -> ClientNetwork? {
        guard let index = streams.index(of: id), streams[index].phase != .closing,
            let tcp = unsafe streams[index].tcp
        else { return nil }
        return unsafe SocketAddress.peer(of: tcp)?.network
    }

    /// The network of the peer of a socket that is not a stream; nil as for a stream.
    ///
    /// One system call.
    public static func peerNetwork(ofSocket socket: CInt) -> ClientNetwork? {
        SocketAddress.peer(ofSocket: socket)?.network
    }

    func beginReading(_ index: Int) {
        guard streams[index].activity.isDisjoint(with: [.reading, .ended, .connecting]),
            let tcp = unsafe streams[index].tcp
        else { return }
        // It fails only for a handle that is closing or not a connection.
        let failure = unsafe uv_read_start(cuv_tcp_stream(tcp), streamWantsBuffer, streamRead)
        precondition(failure == 0, "an open stream cannot be read")
        streams[index].activity.insert(.reading)
    }

    func endReading(_ index: Int) {
        guard streams[index].activity.contains(.reading), let tcp = unsafe streams[index].tcp
        else { return }
        unsafe uv_read_stop(cuv_tcp_stream(tcp))
        streams[index].activity.remove(.reading)
    }

    func closeStream(_ index: Int) {
        guard streams[index].phase != .closing, let tcp = unsafe streams[index].tcp
        else { return }
        streams[index].phase = .closing
        unsafe uv_close(cuv_tcp_handle(tcp), streamHandleClosed)
    }

    fileprivate func received(_ slot: UInt32, _ count: Int) {
        // 0 is EAGAIN, "nothing after all", and not the end.
        guard count != 0 else { return }
        let index = Int(slot)
        guard count > 0 else { return readEnded(index, CInt(count)) }
        readBudget.spend(count)
        // Lingering: the peer's bytes are read so that they cannot turn the FIN into RST.
        guard streams[index].phase == .open else { return }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: readBuffer[..<count])
        unsafe handler?.streamReceived(streams.id(slot), bytes)
    }

    private func readEnded(_ index: Int, _ code: CInt) {
        endReading(index)
        let isEndOfFile = code == UV_EOF.rawValue
        finish(
            index,
            isEndOfFile ? .endOfFile : .failed(UVError(code: code, operation: "uv_read_start")))
    }

    /// Reports an end once, to the handler; the end of a lingering stream is not reported.
    func finish(_ index: Int, _ end: StreamEnd) {
        guard !streams[index].activity.contains(.ended) else { return }
        endReading(index)
        streams[index].activity.insert(.ended)
        switch streams[index].phase {
        case .open:
            handler?.streamEnded(streams.id(UInt32(index)), end)
        case .lingering:
            // After both FINs there is nothing to wait for; otherwise the own FIN follows soon.
            let isOver = end != .endOfFile || streams[index].activity.contains(.shutDown)
            if isOver { closeStream(index) }
        case .closing, .free:
            break
        }
    }

    fileprivate func closed(_ slot: UInt32) {
        // The slot is freed before the handler is called, so that it is really free by then.
        let tcp = unsafe streams[Int(slot)].tcp
        let id = streams.release(slot)
        unsafe tcp?.deallocate()
        handler?.streamClosed(id)
    }
}

// MARK: - Trampolines

private func streamWantsBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _ suggestedBytes: Int,
    _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    unsafe withLoop(of: handle) { loop in
        unsafe buffer?.pointee.base = loop.readBuffer.baseAddress?.assumingMemoryBound(
            to: CChar.self)
        unsafe buffer?.pointee.len = loop.readBudget.room(of: cuv_slot(handle))
    }
}

private func streamRead(
    _ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    // Without room in the budget libuv reads nothing and reports that. An end that it has noticed
    // with the last bytes comes without a buffer, too.
    guard count != Int(UV_ENOBUFS.rawValue) else { return }
    unsafe withLoop(of: stream) { $0.received(unsafe cuv_slot(stream), count) }
}

func streamHandleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    unsafe withLoop(of: handle) { $0.closed(unsafe cuv_slot(handle)) }
}
