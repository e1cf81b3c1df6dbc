import Containers
import Testing

@testable import PresenceCore

@Suite struct `The topics of an account` {
    @Test func `are chained by their types, in any order of coming and going`() {
        var topics = Topics()
        var chains = [TopicChain(), TopicChain()]
        var random = SplitMix64(seed: 1)
        var model: [[UInt16: UInt32]] = [[:], [:]]
        for seq in 0..<20_000 {
            let account = Int.random(in: 0..<2, using: &random)
            let type = UInt16.random(in: 100..<140, using: &random)
            if let topic = model[account].removeValue(forKey: type) {
                topics.remove(topic, from: &chains[account])
            } else {
                model[account][type] = topics.makeCustom(
                    EventType(number: type), of: UInt32(account), seq: UInt64(seq),
                    in: &chains[account])
            }
            let custom = topics.custom(EventType(number: type), of: UInt32(account))
            #expect(custom == model[account][type])
            guard seq % 100 == 0 else { continue }
            var found: Set<UInt32> = []
            var next = topics.first(of: UInt32(account), in: chains[account])
            while let topic = next {
                found.insert(topic)
                next = topics.following(topics[topic])
            }
            #expect(found == Set(model[account].values))
            #expect(
                topics.checkChain(chains[account], of: UInt32(account)) == model[account].count)
        }
        #expect(topics.customCount == model[0].count + model[1].count)
    }
}
