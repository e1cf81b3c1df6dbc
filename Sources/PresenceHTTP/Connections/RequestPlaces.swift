/// For whom a request holds its connection.
enum RequestParty: Int, CaseIterable, Sendable {
    /// A health check.
    case health
    /// A client that needs no key.
    case anonymous
    /// A key that may only read.
    case readOnly
    /// Another key, or a local client where none are needed.
    case full

    /// The value of the label `party`.
    var label: String {
        switch self {
        case .health: "health"
        case .anonymous: "anonymous"
        case .readOnly: "read_only"
        case .full: "full"
        }
    }
}

/// The connections that requests hold: each from its beginning until the kernel has its response.
/// They are not closed to make room for others, so there are shares.
///
/// A sixteenth is for health checks alone. Of the rest, a party that is not trusted holds at most
/// as many as it leaves free: keys that may only read half of them, clients without a key half of
/// what those leave, and there are always some for keys that may do all. Those take all but the
/// sixteenth.
struct RequestPlaces {
    private let placesMax: Int
    private let forHealth: Int
    private var held = RequestParty.allCases.map { _ in 0 }

    init(placesMax: Int) {
        self.placesMax = placesMax
        forHealth = placesMax / 16
    }

    /// Takes a place, if the party may have one more. Returns whether it may.
    mutating func take(_ party: RequestParty) -> Bool {
        let free = placesMax - held.reduce(0, +)
        let hasOne =
            switch party {
            case .health: free > 0
            case .anonymous, .readOnly: held[party.rawValue] < free - forHealth
            case .full: free > forHealth
            }
        if hasOne { held[party.rawValue] += 1 }
        return hasOne
    }

    /// The request is answered, or its connection closed.
    mutating func giveBack(_ party: RequestParty) {
        precondition(held[party.rawValue] > 0, "a place is given back that was not taken")
        held[party.rawValue] -= 1
    }
}

/// The place that the request of a connection holds, one at a time.
struct RequestPlace {
    /// For whom the request that has begun is.
    private(set) var party = RequestParty.anonymous
    private var isHeld = false
    private var wasHeld = false

    /// A request begins. A health check has a connection to itself: otherwise a client could hold
    /// one by asking again and again.
    mutating func begin(for party: RequestParty) {
        precondition(!isHeld, "a place of two requests")
        self.party = party == .health && wasHeld ? .anonymous : party
    }

    /// Takes one. Returns whether there was one.
    mutating func take(of limiter: ConnectionLimiter) -> Bool {
        isHeld = limiter.takePlace(party)
        return isHeld
    }

    /// Gives it back, if there is one.
    mutating func giveBack(to limiter: ConnectionLimiter) {
        guard isHeld else { return }
        isHeld = false
        wasHeld = true
        limiter.giveBackPlace(party)
    }
}
