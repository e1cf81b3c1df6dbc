import CCurl
import Glibc
import HTTPValues
import NIOCore

/// A request in libcurl. Only the thread of libcurl uses it.
@safe final class Transfer {
    let order: TransferOrder
    let easy: UnsafeMutableRawPointer
    private var collector: ResponseCollector
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Whether a connection was not made because its address is not public.
    private var hasRejectedAddress = false
    /// Where libcurl says what failed.
    private let message: UnsafeMutablePointer<CChar>

    /// A transfer that is to be added to a handle for many.
    init(_ order: TransferOrder, _ rules: TransferRules) throws(OutgoingError) {
        guard let easy = unsafe curl_easy_init() else { throw .outOfMemory }
        self.order = order
        unsafe self.easy = unsafe easy
        collector = ResponseCollector(bodyBytesMax: order.request.responseBytesMax)
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        try setRequest()
        try setConnection(rules)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe ccurl_set_sinks(easy, owner, takeLine, takePart))
        try check(unsafe ccurl_set_message(easy, message))
        try check(unsafe ccurl_set_id(easy, order.id))
    }

    // It is taken out of the handle for many before.
    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(headers)
        unsafe message.deallocate()
    }

    // MARK: The settings

    private func setRequest() throws(OutgoingError) {
        let request = order.request
        try set(CURLOPT_URL, request.url.text)
        // Otherwise `/a/../b` would become `/b`.
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A redirect could lead to a URL that the rules do not allow, or send a signed body there.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        if case .post(let body) = request.method {
            let easy = unsafe easy
            try check(
                unsafe body.withUnsafeReadableBytes {
                    unsafe ccurl_set_body(easy, $0.baseAddress, $0.count)
                })
        }
        for line in order.headerLines {
            guard let longer = unsafe curl_slist_append(headers, line) else { throw .outOfMemory }
            unsafe headers = unsafe longer
        }
        try check(unsafe ccurl_set_headers(easy, headers))
    }

    private func setConnection(_ rules: TransferRules) throws(OutgoingError) {
        // Signals are the process's own.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT, rules.connectSecondsMax)
        // The end of a transfer does not wait for the system to find a name.
        try set(CURLOPT_QUICK_EXIT, 1)
        // A receiver that has moved is found at the next attempt.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try set(CURLOPT_MAXAGE_CONN, rules.idleSecondsMax)
        try set(CURLOPT_HTTP_VERSION, ccurl_http_2_over_tls)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, ccurl_tls_1_2)
        if let path = rules.authoritiesPath { try set(CURLOPT_CAINFO, path) }
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if order.request.reach == .publicAddresses {
            try setPublicAddresses()
        } else if order.request.url.isOnThisMachine {
            // The operator of the proxy could replace what a program on this machine says.
            try set(CURLOPT_PROXY, "")
        }
    }

    /// Without a proxy, each address is looked at before it is connected to. Through one, only the
    /// proxy knows the address, and its own may be private; so no host may be exempt from it.
    private func setPublicAddresses() throws(OutgoingError) {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let values = names.compactMap { name in
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        let proxy = values.first { !$0.isEmpty } ?? ""
        try set(CURLOPT_PROXY, proxy)
        guard proxy.isEmpty else { return try set(CURLOPT_NOPROXY, "") }
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe ccurl_set_opener(easy, owner, openSocket))
    }

    /// Whether a connection to an address may be made.
    fileprivate func admits(_ address: [UInt8]) -> Bool {
        let isPublic = PublicAddress.contains(address)
        if !isPublic { hasRejectedAddress = true }
        return isPublic
    }

    private func set(_ option: CURLoption, _ value: Int) throws(OutgoingError) {
        try check(unsafe ccurl_set_number(easy, option, value))
    }

    private func set(_ option: CURLoption, _ text: String) throws(OutgoingError) {
        try check(unsafe ccurl_set_text(easy, option, text))
    }

    /// What fails is memory, or libcurl is built without something that is needed.
    private func check(_ code: CURLcode) throws(OutgoingError) {
        guard code == CURLE_OK else { throw .cannotSend(OutgoingError.text(of: code)) }
    }

    // MARK: The response

    fileprivate func take(line: [UInt8]) -> Bool {
        collector.take(line: line)
        return collector.stop == nil
    }

    fileprivate func take(part: [UInt8]) -> Bool {
        collector.take(part: part)
        return collector.stop == nil
    }

    /// The result of the transfer, after libcurl has ended it.
    func result(_ code: CURLcode) -> Result<OutgoingResponse, OutgoingError> {
        switch collector.stop {
        case .headTooLong:
            let max = ResponseCollector.headBytesMax
            return .failure(.noResponse("the response has more than \(max) bytes of headers"))
        case .malformedStatus: return .failure(.malformedResponse)
        case .bodyTooLong: break
        case nil where code == CURLE_COULDNT_CONNECT && hasRejectedAddress:
            return .failure(.cannotConnect("its address is not public"))
        case nil where code != CURLE_OK: return .failure(OutgoingError(ending(code)))
        case nil: break
        }
        guard let response = collector.response else { return .failure(.malformedResponse) }
        return .success(response)
    }

    /// What libcurl knows of a transfer that has failed.
    private func ending(_ code: CURLcode) -> TransferEnding {
        unsafe TransferEnding(
            code: code,
            systemError: CInt(truncatingIfNeeded: ccurl_number(easy, CURLINFO_OS_ERRNO)),
            proxyStatus: ccurl_number(easy, CURLINFO_HTTP_CONNECTCODE),
            hasFoundName: ccurl_microseconds(easy, CURLINFO_NAMELOOKUP_TIME_T) > 0,
            message: String(cString: message))
    }
}

/// How libcurl has ended a transfer that has failed.
struct TransferEnding {
    var code: CURLcode
    var systemError: CInt = 0
    var proxyStatus = 0
    var hasFoundName = true
    var message = ""
}

// MARK: - Trampolines

private func takeLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int {
    unsafe take(bytes, size &* count, owner) { $0.take(line: $1) }
}

private func takePart(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ owner: UnsafeMutableRawPointer?
) -> Int {
    unsafe take(bytes, size &* count, owner) { $0.take(part: $1) }
}

private func openSocket(
    _ owner: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let owner = unsafe owner, let address = unsafe address else { return CURL_SOCKET_BAD }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe bytes.withUnsafeMutableBufferPointer {
        unsafe ccurl_address(address, $0.baseAddress)
    }
    guard transfer.admits(Array(bytes[..<count])) else { return CURL_SOCKET_BAD }
    return unsafe ccurl_open(address)
}

/// Returns the number of the bytes, or another one, which ends the transfer.
private func take(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ owner: UnsafeMutableRawPointer?,
    _ body: (Transfer, [UInt8]) -> Bool
) -> Int {
    guard let owner = unsafe owner else { return count &+ 1 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    return body(transfer, unsafe [UInt8](bytes)) ? count : count &+ 1
}
