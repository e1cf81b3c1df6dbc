import PresenceCore

extension Operation {
    /// The engine by itself: no sockets, and a store that commits at once.
    static let engine: [Operation] = [
        Operation("engine: a delivery, of an event to 100", perRun: 100) {
            let world = Shared(Population(watchers: 100))
            return Work { world.population.publish() }
        },
        Operation("engine: a renewal, of 100 at once", perRun: 100) {
            let world = Shared(Population(watchers: 1))
            world.population.subscribeToHundred()
            return Work { world.population.subscribeToHundred() }
        },
        Operation("engine: subscribe and unsubscribe, 100 at once", perRun: 100) {
            let world = Shared(Population(watchers: 1))
            return Work {
                world.population.subscribeToHundred()
                world.population.unsubscribe()
            }
        },
        Operation("engine: a state of a login list of 3,000, encoded", perRun: 3_000) {
            let world = Shared(Population(watchers: 3_000, watching: .all))
            return Work { world.population.logInAgain() }
        },
        Operation("engine: a logout and a login, with a list of one") {
            let world = Shared(Population(watchers: 1))
            return Work { world.population.logInAgain() }
        },
    ]
}

/// A world that a closure can keep.
private final class Shared {
    var population: Population

    init(_ population: consuming Population) { self.population = population }
}
