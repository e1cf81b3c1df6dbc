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

    /// Pending output for a stalled loop, with a copy of what it refers to.
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
            guard case .fanOut(let item, let receivers) = items[index] else { continue }
            items[index] = .fanOut(item.copied(from: sealed.output, into: &copied), receivers)
        }
        self.init(Shared(copied), LoopOutput(items: items, receivers: own.receivers))
    }

    /// Items that refer to nothing.
    init(items: [OutboundItem]) {
        self.init(Shared(SharedOutput()), LoopOutput(items: items))
    }

    /// Whether there is nothing.
    var isEmpty: Bool { own.isEmpty }

    /// What the items of several loops refer to.
    var shared: SharedOutput { sealed.output }

    /// About how much memory it takes.
    var byteCount: Int { sealed.byteCount + own.byteCount }

    /// For the connection loop.
    var outbound: Outbound { Outbound(shared: sealed.output, own: own) }
}

extension FanOutItem {
    /// The same, with a copy of what it refers to if it is pushed.
    fileprivate func copied(
        from shared: borrowing SharedOutput, into output: inout SharedOutput
    ) -> Self {
        switch self {
        // They are not handed over with copies: `OutboundItem.refersToAnswers`.
        case .deliver, .deliverStanzas, .copy: return self
        case .deliverAlways(let body): return .deliverAlways(output.copy(body, from: shared))
        case .messages(let stanzas, let last):
            return .messages(output.copy(stanzas, from: shared), last: last)
        case .contact(let notice): return .contact(output.copy(notice, from: shared))
        case .expired(let type, let cause, let names):
            return .expired(type, cause, names: output.copy(names, from: shared))
        case .direct(let all, let delivery):
            let copied = output.copy(all, from: shared)
            guard let brief = delivery.brief else { return .direct(copied, delivery) }
            let copyOfBrief = brief == all ? copied : output.copy(brief, from: shared)
            return .direct(copied, delivery.with(brief: copyOfBrief))
        }
    }
}
