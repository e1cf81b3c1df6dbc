// A body of any bytes: a request whose parts all lie inside, or an error. The same every time,
// whatever the decoder has read before; and what is answered can be read back.

import PresenceWire

@testable import PresenceCore

/// Kept from input to input, as a service keeps its own.
nonisolated(unsafe) private var decoder = RequestDecoder()
nonisolated(unsafe) private var other = RequestDecoder()

/// A request with every text spelled out, after each was found to keep the rules.
private struct Spelled: Equatable {
    var id: RequestID
    var kind: String
    var numbers: [Int64] = []
    var texts: [[UInt8]?] = []

    init(_ request: Request, _ decoder: borrowing RequestDecoder) {
        id = request.id
        kind = request.method.name.rawValue
        if case .text(let text) = id { require(text.count <= 128, "a long id") }
        switch request.method {
        case .question(.stats), .question(.metrics): break
        case .refresh(let request):
            text(request.token, 0...65_536, decoder)
        case .password(let change):
            name(change.account, decoder)
            text(change.password, 0...65_536, decoder)
        case .feed(.snapshot), .feed(.now):
            numbers.append(0)
        case .feed(.after(let cursor)):
            numbers.append(Int64(bitPattern: cursor.seq))
        case .undelivered(let cursor):
            numbers.append(Int64(bitPattern: cursor?.seq ?? 0))
        case .question(.why(let request)):
            name(request.subscriber, decoder)
            name(request.publisher, decoder)
            type(request.type)
        case .question(.top(let request)):
            number(request.entriesMax, 1...100)
        case .login(let login):
            add(login, decoder)
        case .command(let command):
            add(command, decoder)
        }
    }

    private mutating func add(_ command: Command, _ decoder: borrowing RequestDecoder) {
        switch command {
        case .logout, .ping: break
        case .subscribe(let account, let request):
            name(account, decoder)
            type(request.type)
            list(request.publishers, 1...100, decoder)
            number(request.expirySeconds, 60...2_592_000)
            number(Int(request.answer.rawValue), 0...1)
        case .unsubscribe(let account, let request):
            name(account, decoder)
            type(request.type)
            if let publishers = request.publishers { list(publishers, 1...100, decoder) }
        case .subscriptions(let account, let request):
            name(account, decoder)
            if let type = request.type { self.type(type) }
            if let publishers = request.publishers { list(publishers, 1...100, decoder) }
            number(request.entriesMax, 1...1_000)
            numbers.append(Int64(bitPattern: request.cursor ?? 0))
        case .publish(let account, let request):
            name(account, decoder)
            type(request.type)
            number(Int(request.value), 10_000...Int(Int32.max))
            number(request.expirySeconds, 60...604_800)
            text(request.ext, 0...4_096, decoder)
            number(Int(request.audience.rawValue), 0...1)
            number(Int(request.ownSessions.rawValue), 0...1)
        case .clear(let account, let type):
            name(account, decoder)
            self.type(type)
        case .relate(let account, let contact, let action):
            name(account, decoder)
            name(contact, decoder)
            add(action)
        case .contacts(let account, let request):
            name(account, decoder)
            number(request.entriesMax, 1...1_000)
            numbers.append(Int64(bitPattern: request.cursor ?? 0))
        case .setVisibility(let account, let visibility):
            name(account, decoder)
            numbers.append(visibility.map { Int64($0.rawValue) } ?? -1)
        case .setAvailability(let availability):
            number(Int(availability.priority), -128...127)
            numbers.append(Int64(availability.show.rawValue))
            text(availability.text, 0...1_024)
        case .show, .hide, .direct, .probe, .lastSeen, .sees, .setCopies:
            require(false, "a command of another protocol")
        case .send(let account, let request):
            name(account, decoder)
            recipients(request.recipients, decoder)
            text(request.body, 1...131_072, decoder)
            text(request.ext, 0...131_071, decoder)
            text(request.ref, 1...64, decoder)
            number(request.expirySeconds, 60...2_592_000)
        case .take(let message):
            numbers.append(Int64(bitPattern: message.number))
        case .discard(let account, let sender):
            name(account, decoder)
            name(sender, decoder)
        case .setDevice(let account, let request):
            name(account, decoder)
            name(request.device, decoder, bytesMax: 64)
            text(request.alias, 0...262_144, decoder)
            for tag in request.tags.map({ decoder.names($0) }) ?? [] {
                text(tag, 0...262_144, decoder)
            }
            text(request.pushAddress, 0...262_144, decoder)
        case .devices(let account):
            name(account, decoder)
        case .query(let type, let accounts):
            self.type(type)
            list(accounts, 1...500, decoder)
        case .subscribers(let request):
            type(request.type)
            name(request.publisher, decoder)
            number(request.entriesMax, 1...1_000)
            numbers.append(Int64(bitPattern: request.cursor ?? 0))
        case .sessions(let account):
            name(account, decoder)
        case .kick(let request):
            name(request.account, decoder)
            name(request.device, decoder, bytesMax: 64)
            text(request.reason, 0...256, decoder)
        }
    }

    private mutating func add(_ action: ContactAction) {
        switch action {
        case .say(let word, let request):
            numbers.append(Int64(word.rawValue))
            text(request.text, 0...512)
            require(request.extra.isEmpty, "content of another protocol")
            require(word == .subscribe || request == .none, "a text of \(word)")
        case .describe(let label):
            require(label.bytes.count <= 255, "a label of \(label.bytes.count) bytes")
            text(Array(label.name), 0...255)
            for group in label.groups { text(Array(group), 1...255) }
            require(Set(label.groups).count == label.groups.count, "the same group twice")
        case .remove: numbers.append(-1)
        }
    }

    private mutating func add(_ login: LoginRequest, _ decoder: borrowing RequestDecoder) {
        switch login.credential {
        case .token(let token): text(token, 1...65_536, decoder)
        case .account(let account): name(account, decoder)
        case .password(let account, let password):
            name(account, decoder)
            text(password, 0...65_536, decoder)
        case .key(let key): text(key, 0...65_536, decoder)
        case .appServer: break
        }
        name(login.device, decoder, bytesMax: 64)
        numbers += [
            Int64(login.client.rawValue), Int64(login.reach.rawValue), Int64(login.sync.rawValue),
            Int64(login.hears.rawValue), Int64(login.messages.rawValue),
        ]
    }

    private mutating func number(_ value: Int, _ range: ClosedRange<Int>) {
        require(range.contains(value), "\(kind): \(value) is not in \(range)")
        numbers.append(Int64(value))
    }

    private mutating func type(_ type: EventType) {
        require(type.number == 1 || type.number >= 100, "type \(type.number)")
        numbers.append(Int64(type.number))
    }

    private mutating func text(
        _ range: ByteRange?, _ counts: ClosedRange<Int>, _ decoder: borrowing RequestDecoder
    ) {
        text(range.map { decoder.bytes($0) }, counts)
    }

    private mutating func text(_ bytes: [UInt8]?, _ counts: ClosedRange<Int>) {
        guard let bytes else { return texts.append(nil) }
        require(counts.contains(bytes.count), "\(kind): a text of \(bytes.count) bytes")
        require(
            String(validating: bytes, as: UTF8.self) != nil, "\(kind): text that is not UTF-8")
        texts.append(bytes)
    }

    private mutating func name(
        _ range: ByteRange?, _ decoder: borrowing RequestDecoder, bytesMax: Int = 128
    ) {
        text(range, 1...bytesMax, decoder)
        guard let name = texts.last, let name else { return }
        require(name.first != 0x20 && name.last != 0x20, "\(kind): a space around a name")
        require(!name.contains { $0 < 0x20 || $0 == 0x7F }, "\(kind): a control in a name")
    }

    private mutating func recipients(
        _ recipients: Recipients, _ decoder: borrowing RequestDecoder
    ) {
        switch recipients {
        case .accounts(let accounts): list(accounts, 1...100, decoder)
        case .device(let device, let accounts):
            list(accounts, 1...1, decoder)
            name(device, decoder, bytesMax: 64)
        case .aliases(let aliases): list(aliases, 1...100, decoder, bytesMax: 40)
        case .tags(let tags):
            require(tags.any != nil || tags.all != nil, "only tags that devices must not have")
            for part in [tags.any, tags.all, tags.not] {
                if let part { list(part, 1...20, decoder, bytesMax: 40) }
            }
        }
    }

    private mutating func list(
        _ list: NameList, _ counts: ClosedRange<Int>, _ decoder: borrowing RequestDecoder,
        bytesMax: Int = 128
    ) {
        let ranges = decoder.names(list)
        require(counts.contains(ranges.count), "\(kind): \(ranges.count) names")
        let start = texts.count
        for range in ranges { name(range, decoder, bytesMax: bytesMax) }
        let names = texts[start...].map { $0 ?? [] }
        require(Set(names).count == names.count, "\(kind): the same name twice")
    }
}

/// Whether these bytes are one frame of JSON that we would read ourselves.
private func checkReadable(_ frame: [UInt8]) {
    var splitter = FrameSplitter()
    var offset = 0
    let outcome = splitter.next(in: frame.span.bytes, from: &offset, bodyBytesMax: 1 << 20)
    guard case .frame(let body) = outcome, offset == frame.count else {
        return require(false, "an answer that is no frame: \(outcome)")
    }
    let result = splitter.withBody(body, in: frame.span.bytes) { other.decode($0) }
    // It is no request; but it has to be JSON.
    if case .failure(let error) = result, case .envelope(let envelope) = error.cause {
        let isJSON = ![.invalidJSON, .invalidUTF8, .tooDeep].contains(envelope.reason)
        require(isJSON, "an answer that cannot be read: \(envelope.reason) \(frame)")
    }
}

/// The texts of a request, sent back to clients in an event.
private func checkEvent(_ spelled: Spelled) {
    var effects = Effects()
    let ranges = spelled.texts.compactMap { $0 }.map { text in
        defer { effects.bytes += text }
        return ByteRange(start: Int32(effects.bytes.count), count: Int32(text.count))
    }
    guard let first = ranges.first, let last = ranges.last else { return }
    let device = DeviceEntry(client: .ios, name: first, reach: .push, availability: 0)
    effects.availabilities = [
        Availability(show: .dnd, priority: .min, text: spelled.texts.compactMap { $0 }.last)
    ]
    effects.devices = [device, device]
    let event = Event(
        type: .presence, publisher: first, value: 10_000, cause: .publish, seq: .max,
        time: Wall(milliseconds: .max), origin: device, ext: last, online: 0..<2,
        status: StatusEntry(value: .max, ext: last, expires: Wall(milliseconds: .min)),
        lastSeen: Wall(milliseconds: 0))
    var frame: [UInt8] = []
    Framing.native.append(to: &frame) { $0.appendEventBody(event, in: effects) }
    checkReadable(frame)
    let start = effects.bytes.count
    let label = ContactLabel(name: Array("n".utf8), groups: [Array("g".utf8)]) ?? .none
    effects.bytes += label.bytes
    let contact = ContactEntry(
        account: first,
        label: ByteRange(start: Int32(start), count: Int32(label.bytes.count)), seen: .pending,
        sees: .pending, requestText: last, isApprovedBefore: true, isListed: false)
    let notice = ContactNotice(contact: contact, word: .subscribe, isListChanged: true)
    var told: [UInt8] = []
    Framing.native.append(to: &told) { $0.appendContactBody(notice, in: effects) }
    checkReadable(told)
    let text = spelled.texts.compactMap { $0 }.last ?? []
    let message = DeliveredMessage(
        id: MessageID(number: .max), from: text, fromDevice: text, time: Wall(milliseconds: .max),
        body: text, ext: text, ref: text)
    var delivered: [UInt8] = []
    Framing.native.append(to: &delivered) {
        let rest = $0.appendMessagesBody([message, message], limits: Limits())
        require(rest.isEmpty || text.count > 1_000, "a short message without room")
    }
    checkReadable(delivered)
}

private func decode(_ body: [UInt8]) -> Result<Spelled, RequestError> {
    decoder.decode(body.span.bytes).map { Spelled($0, decoder) }
}

/// Decodes one input, twice, and reads back what is answered.
func fuzzRequests(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let body = input.remainder()
    let first = decode(body)
    // What was read between the two must leave no trace.
    _ = decode(Array(body.reversed()))
    let second = decode(body)
    require(first == second, "read twice, not the same: \(first) \(second)")
    switch first {
    case .success(let spelled): checkEvent(spelled)
    case .failure(let error):
        var frame: [UInt8] = []
        Framing.native.append(to: &frame) { $0.appendErrorBody(error) }
        if error.id != .none { checkReadable(frame) }
    }
}
