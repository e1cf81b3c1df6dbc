import CLibUV
import Glibc

/// A failed libuv or system call: the negative code libuv uses, and the call that gave it.
public struct UVError: Error, Equatable, Sendable, CustomStringConvertible {
    /// libuv's code; on Unix the negated `errno`.
    public let code: CInt
    /// The C function that failed.
    public let operation: StaticString

    /// An error of `operation`; `code` is negative.
    public init(code: CInt, operation: StaticString) {
        self.code = code
        self.operation = operation
    }

    /// The symbolic name, such as `EADDRINUSE`.
    public var name: String {
        unsafe text { unsafe uv_err_name_r(code, $0, $1) }
    }

    /// For the log: `bind: address already in use (EADDRINUSE)`.
    public var description: String {
        let message = unsafe text { unsafe uv_strerror_r(code, $0, $1) }
        return "\(operation): \(message) (\(name))"
    }

    /// Whether both are the same failure of the same call.
    public static func == (left: UVError, right: UVError) -> Bool {
        left.code == right.code && left.operation.description == right.operation.description
    }

    // The _r variants: the plain ones leak memory for a code libuv does not know.
    private func text(
        _ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe start.pointee = 0
            _ = unsafe write(start, buffer.count)
            return unsafe String(cString: start)
        }
    }
}

/// Turns a C result into a thrown error; 0 and above pass.
@discardableResult
func check(_ result: CInt, _ operation: StaticString) throws(UVError) -> CInt {
    guard result >= 0 else { throw UVError(code: result, operation: operation) }
    return result
}

/// The same for a system call, which returns -1 and sets `errno`.
@discardableResult
func checkSystem(_ result: CInt, _ operation: StaticString) throws(UVError) -> CInt {
    guard result >= 0 else {
        throw UVError(code: uv_translate_sys_error(errno), operation: operation)
    }
    return result
}
