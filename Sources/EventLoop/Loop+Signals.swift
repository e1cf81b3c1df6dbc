import CLibUV

extension Loop {
    /// Makes the loop call `signalReceived` for these signals, in place of their default action.
    ///
    /// Signals watched before stay watched; on failure those earlier in the list are watched, too.
    public func watchSignals(_ numbers: [CInt]) throws(UVError) {
        for number in numbers {
            let signal = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
            let failure = unsafe uv_signal_init(uvLoop, signal)
            guard failure == 0 else {
                // Not initialised, so libuv does not know it and there is nothing to close.
                unsafe signal.deallocate()
                throw UVError(code: failure, operation: "uv_signal_init")
            }
            // From here on it is closed with the loop, watched or not.
            unsafe signals.append(signal)
            try check(unsafe uv_signal_start(signal, loopSignalReceived, number), "uv_signal_start")
        }
    }

    fileprivate func signalReceived(_ number: CInt) {
        handler?.signalReceived(number)
    }
}

// MARK: - Trampolines

private func loopSignalReceived(_ signal: UnsafeMutablePointer<uv_signal_t>?, _ number: CInt) {
    unsafe withLoop(of: signal) { $0.signalReceived(number) }
}
