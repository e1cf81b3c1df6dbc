/// The events of its clients that a scenario receives.
protocol LoadObserver: AnyObject {
    /// A client's connection is established; it logs in now.
    func connected(_ client: Int)
    /// An event of a publisher. `body` is its frame.
    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan)
    /// A state in the list with which a login begins.
    func listed(_ event: ScannedEvent, by client: Int)
    /// A client's login list is complete.
    func arrived(_ client: Int, states: Int)
    /// A client is sent messages.
    func delivered(_ messages: ScannedMessages, to client: Int)
    /// A request was carried out.
    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan)
    /// A tick of some milliseconds, and before each wait of the loop.
    func turnEnded()
}

extension LoadObserver {
    func connected(_ client: Int) {}
    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {}
    func listed(_ event: ScannedEvent, by client: Int) {}
    func arrived(_ client: Int, states: Int) {}
    func delivered(_ messages: ScannedMessages, to client: Int) {}
    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {}
    func turnEnded() {}
}
