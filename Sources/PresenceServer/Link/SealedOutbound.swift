import PresenceCore

/// What the engine host hands to a loop on another thread, and never changes afterwards.
///
/// What several loops may need is one object: handing it over costs one reference for each loop,
/// not one for each array in it.
struct SealedOutbound: Sendable {
    /// What the items of several loops refer to.
    final class Shared: Sendable {
        let output: SharedOutput
        let byteCount: Int

        init(_ output: consuming SharedOutput) {
            byteCount = output.byteCount
            self.output = output
        }
    }

    private let sealed: Shared
    let own: LoopOutput

    init(_ sealed: Shared, _ own: LoopOutput) {
        self.sealed = sealed
        self.own = own
    }

    /// What there is for a stalled loop, with a copy of what it refers to.
    ///
    /// What is pushed is copied: expired names, notices of contacts, bodies that are always
    /// delivered and directed presences. Whatever else refers to something answers a request that
    /// was in progress when the loop was stalled, and keeps all that is shared.
    init(copyingFrom sealed: Shared, _ own: LoopOutput) {
        guard !own.items.contains(where: \.refersToAnswers) else {
            self.init(sealed, own)
            return
        }
        var (copied, items) = (SharedOutput(), own.items)
        for index in items.indices {
            switch items[index] {
            case .expired(let type, let cause, let names, let receivers):
                let start = copied.effects.names.count
                for name in names { copied.copyName(name, from: sealed.output) }
                items[index] = .expired(
                    type, cause, names: start..<copied.effects.names.count, receivers: receivers)
            case .deliverAlways(let body, let receivers):
                let copy = copied.copyBytes(body, from: sealed.output)
                items[index] = .deliverAlways(body: copy, receivers: receivers)
            case .contact(let notice, let receivers):
                let copy = copied.copyNotice(notice, from: sealed.output)
                items[index] = .contact(notice: copy, receivers: receivers)
            case .direct(let body, var delivery, let receivers):
                let copy = copied.copyBytes(body, from: sealed.output)
                if let brief = delivery.brief {
                    delivery = delivery.with(
                        brief: brief == body ? copy : copied.copyBytes(brief, from: sealed.output))
                }
                items[index] = .direct(body: copy, delivery, receivers: receivers)
            default: break
            }
        }
        self.init(Shared(copied), LoopOutput(items: items, receivers: own.receivers))
    }

    /// Items that refer to nothing.
    init(items: [OutboundItem]) {
        self.init(Shared(SharedOutput()), LoopOutput(items: items))
    }

    /// Whether there is nothing.
    var isEmpty: Bool { own.items.isEmpty }

    /// What the items of several loops refer to.
    var shared: SharedOutput { sealed.output }

    /// About how much memory it takes.
    var byteCount: Int { sealed.byteCount + own.byteCount }

    /// For the connection loop.
    var outbound: Outbound { Outbound(shared: sealed.output, own: own) }
}
