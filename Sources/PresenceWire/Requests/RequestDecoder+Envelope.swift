internal import CSimdJSON
internal import PresenceCore

/// The keys of the envelope.
enum Envelope {
    static let jsonrpc = Word("jsonrpc")
    static let id = Word("id")
    static let method = Word("method")
    static let params = Word("params")
    static let version = Word("2.0")
}

/// The words of the protocol.
struct Vocabularies {
    let methods = Vocabulary(MethodName.allCases.map { ($0.rawValue, $0) })
    let clients = Vocabulary(ClientKind.ofNativeClients.map { ($0.word.description, $0) })
    let loginLists: Vocabulary<LoginList> = Vocabulary([
        ("online", .online), ("all", .all), ("none", .none),
    ])
    let actions: Vocabulary<ContactVerb> = Vocabulary(
        RelationWord.allCases.map { ($0.action.description, .say($0)) }
            + [("describe", .describe), ("remove", .remove)])
    /// Nil: the service's setting.
    let visibilities: Vocabulary<Visibility?> = Vocabulary(
        Visibility.allCases.map { ($0.word.description, .some($0)) } + [("default", nil)])
    let feedBeginnings: Vocabulary<FeedBeginning> = Vocabulary([("now", .now)])
    let shows = Vocabulary(Show.allCases.map { ($0.word.description, $0) })
    let parameters = Vocabulary(Rejection.Field.allCases.map { ($0.rawValue, $0) })
}

// Each is called once for a request, and inlined: a call of a function that only reads the decoder
// passes a copy of it.
extension RequestDecoder {
    /// The request's `id`; nil if it is invalid.
    ///
    /// JSON-RPC allows `null` and discourages it. It is rejected here, because a response with
    /// `null` reports a frame that could not be decoded.
    @inline(__always)
    func readID(_ members: Members) -> RequestID? {
        guard let member = members[Envelope.id] else { return .some(.none) }
        if let index = members.duplicate, members[index].key == Envelope.id { return nil }
        switch member.kind {
        case CSJ_INTEGER:
            return .integer(member.integer)
        case CSJ_STRING where Int(member.count) <= limits.requestIDBytesMax:
            return .text(bytes(member.text))
        default:
            return nil
        }
    }

    /// Checks the envelope and finds the method.
    @inline(__always)
    func readMethod(
        _ members: Members, id: RequestID?
    ) throws(EnvelopeError) -> MethodName {
        if let index = members.duplicate {
            throw EnvelopeError(.duplicateField, field: envelopeField(members[index].key))
        }
        guard members.count <= Members.countMax else {
            throw EnvelopeError(.invalidRequest, limit: Members.countMax)
        }
        guard id != nil else {
            throw EnvelopeError(.invalidRequest, field: .id, limit: limits.requestIDBytesMax)
        }
        guard let version = members[Envelope.jsonrpc], version.kind == CSJ_STRING,
            version.head == Envelope.version
        else {
            throw EnvelopeError(.invalidRequest, field: .jsonrpc)
        }
        guard let method = members[Envelope.method], method.kind == CSJ_STRING else {
            throw EnvelopeError(.invalidRequest, field: .method)
        }
        guard let word = vocabularies.methods[method.head] else {
            throw EnvelopeError(.unknownMethod, field: .method)
        }
        return word
    }

    /// Rejects what is not an object, has a duplicate key or too many keys.
    @inline(__always)
    func checkParams(_ member: csj_member?) throws(Rejection) {
        guard let member else { return }
        guard member.kind == CSJ_OBJECT else { throw Rejection(.wrongType, field: .params) }
        try checkDuplicates()
        let params = params
        guard params.count <= Members.countMax else {
            throw Rejection(
                .tooMany, field: .params, limit: Members.countMax, count: params.count)
        }
    }

    /// Rejects duplicate keys.
    func checkDuplicates() throws(Rejection) {
        guard let index = params.duplicate else { return }
        throw Rejection(
            .duplicateField, field: vocabularies.parameters[params[index].key] ?? .params)
    }

    private func envelopeField(_ key: Word) -> EnvelopeError.Field? {
        EnvelopeError.Field.allCases.first { Word($0.rawValue) == key }
    }
}

extension csj_member {
    /// The range of a string in the decoder's text.
    var text: ByteRange { ByteRange(start: Int32(start), count: Int32(count)) }
}
