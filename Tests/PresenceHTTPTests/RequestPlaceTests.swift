import Testing

@testable import PresenceHTTP

/// Who may hold connections by requests, beside whom.
@Suite struct `The places of HTTP requests` {
    /// How many a party gets until there is none for it.
    private func fill(_ places: inout RequestPlaces, _ party: RequestParty) -> Int {
        var count = 0
        while places.take(party) { count += 1 }
        return count
    }

    @Test func `are shared, whoever comes first`() {
        var places = RequestPlaces(placesMax: 256)
        let counts = [.readOnly, .anonymous, .full, .health].map { fill(&places, $0) }
        #expect(counts == [120, 60, 60, 16])
        var others = RequestPlaces(placesMax: 256)
        let reversed = [.full, .readOnly, .anonymous, .health].map { fill(&others, $0) }
        #expect(reversed == [240, 0, 0, 16])
    }

    @Test func `are given back`() {
        var places = RequestPlaces(placesMax: 32)
        let count = fill(&places, .readOnly)
        #expect(count == 15)
        places.giveBack(.readOnly)
        let again = fill(&places, .readOnly)
        #expect(again == 1)
    }

    @Test func `are there where there are few`() {
        for placesMax in 1...16 {
            for party in RequestParty.allCases {
                var places = RequestPlaces(placesMax: placesMax)
                let hasOne = places.take(party)
                #expect(hasOne, "\(party) of \(placesMax)")
            }
        }
    }
}
