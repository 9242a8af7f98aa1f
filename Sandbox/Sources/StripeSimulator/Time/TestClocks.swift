/// Test clocks: the time of some customers, moved by hand. https://docs.stripe.com/api/test_clocks
enum TestClocks {
    static let routes: [Route] = [
        .post("test_helpers/test_clocks") { world, call in
            guard let frozen = try call.parameters.int("frozen_time") else {
                throw APIError.missing(parameter: "frozen_time")
            }
            let name = try call.parameters.string("name")
            var clock = world.blank(
                .testClock,
                [
                    "deletes_after": .int(world.now + 30 * 86_400), "frozen_time": .int(frozen),
                    "name": JSON(name), "status": "ready", "status_details": [:],
                ]
            )
            clock.remove("metadata")
            return world.add(.testClock, clock, event: "test_helpers.test_clock.created")
        },
        .get("test_helpers/test_clocks") { world, call in try world.list(.testClock, &call) },
        .get("test_helpers/test_clocks/:id") { world, call in
            try world.find(.testClock, call.ids[0])
        },
        .post("test_helpers/test_clocks/:id/advance") { world, call in
            guard let target = try call.parameters.int("frozen_time") else {
                throw APIError.missing(parameter: "frozen_time")
            }
            return try advance(&world, testClock: call.ids[0], to: target)
        },
        .delete("test_helpers/test_clocks/:id") { world, call in
            let clock = try world.find(.testClock, call.ids[0])
            for customer in world.all(.customer)
            where customer["test_clock"].string == call.ids[0] {
                for subscription in world.all(.subscription)
                where subscription["customer"] == customer["id"] {
                    _ = world.delete(.subscription, subscription["id"].text)
                }
                _ = world.delete(.customer, customer["id"].text)
            }
            world.clockAgendas[call.ids[0]] = nil
            world.emit("test_helpers.test_clock.deleted", clock)
            return world.delete(.testClock, call.ids[0])
        },
    ]

    /// Moves a test clock forward and does what comes due on the way.
    /// https://docs.stripe.com/billing/testing/test-clocks
    static func advance(_ world: inout World, testClock id: String, to target: Int) throws -> JSON {
        let clock = try world.find(.testClock, id)
        let start = clock["frozen_time"].count
        guard target > start else {
            throw APIError.invalid(
                "The test clock can only be advanced to a time after its frozen time.",
                param: "frozen_time"
            )
        }
        guard target <= start + longestAdvance(world, of: id) else {
            throw APIError.invalid(
                "Cannot advance the test clock by more than two intervals of the shortest "
                    + "subscription under it.",
                param: "frozen_time"
            )
        }
        let advancing = world.change(.testClock, id) { clock in
            clock["status"] = "advancing"
            clock["status_details"] = ["advancing": ["target_frozen_time": .int(target)]]
        }
        world.emit("test_helpers.test_clock.advancing", advancing)
        while let entry = world.clockAgendas[id, default: Agenda()].takeDue(at: target) {
            world.advancing[id] = max(start, entry.at)
            world.perform(entry.task)
        }
        world.advancing[id] = nil
        let ready = world.change(.testClock, id) { clock in
            clock["status"] = "ready"
            clock["status_details"] = [:]
            clock["frozen_time"] = .int(target)
        }
        world.emit("test_helpers.test_clock.ready", ready)
        // Stripe answers at once and works on; here all is done, but the answer is the same.
        return advancing
    }

    private static func longestAdvance(_ world: World, of clock: String) -> Int {
        let lengths = world.all(.subscription).filter { subscription in
            subscription["test_clock"].string == clock && !Subscriptions.isOver(subscription)
        }.flatMap(\.["items"].elements).map { item in
            let cycle = BillingCycle(anchor: 0, recurring: item["price"]["recurring"])
            return cycle.boundary(2) + 3 * 86_400
        }
        return lengths.min() ?? 2 * 366 * 86_400
    }
}
