extension StripeSimulator {
    /// Delivers whatever is due and returns when all that was waiting has been tried.
    func flush() async {
        while isDelivering {
            await withCheckedContinuation { waiting.append($0) }
        }
        isDelivering = true
        defer {
            isDelivering = false
            let resumed = waiting
            waiting = []
            for continuation in resumed { continuation.resume() }
        }
        let courier = Courier(timeout: configuration.deliveryTimeout)
        // An endpoint that did not answer in time is not kept waiting for again in this round.
        var silent: Set<String> = []
        while let delivery = world.takeDelivery() {
            guard let message = world.message(for: delivery, wall: configuration.wall()) else {
                continue
            }
            if world.faults.isFailing || silent.contains(delivery.endpoint) {
                world.conclude(delivery, delivered: false)
                continue
            }
            let signature = Signature.header(
                body: message.body,
                secrets: message.secrets,
                timestamp: configuration.wall()
            )
            let outcome: Courier.Outcome
            if let deliver = configuration.deliver {
                let isTaken = await deliver(message.body, message.url, signature)
                outcome = isTaken ? .delivered : .refused
            } else {
                outcome = await courier.post(message.body, to: message.url, signature: signature)
            }
            if outcome == .silent { silent.insert(delivery.endpoint) }
            var isDelivered = outcome == .delivered
            if isDelivered, world.faults.lostAnswers > 0 {
                world.faults.lostAnswers -= 1
                isDelivered = false
            }
            world.conclude(delivery, delivered: isDelivered)
            isDirty = true
        }
    }

    /// Whether an event is still to be taken by an endpoint that wants it.
    func isPending(event type: String, about object: String) -> Bool {
        world.deliveries.contains { delivery in
            let event = world.get(.event, delivery.event) ?? .null
            return event["type"].string == type
                && event["data"]["object"]["id"].string == object
        }
    }

    /// Delivers everything that waits, now.
    ///
    /// Returns when subscribers have answered.
    public func settle() async {
        await synchronize()
        await flush()
        save()
    }

    /// What goes wrong on the way to endpoints from now on.
    public struct Faults: Hashable, Sendable {
        /// Attempts fail without reaching the endpoint and are tried again on the virtual clock.
        public var isFailing = false
        /// Nothing is attempted until this ends.
        public var isPaused = false
        /// How many times more every new event arrives.
        public var repeats = 0
        /// Of what waits, the youngest goes first.
        public var isReversed = false
        /// The next so many deliveries arrive, but their answers are lost.
        public var lostAnswers = 0

        public init() {}
    }

    /// Sets the faults; with none left, what waits is delivered before this returns.
    /// - Parameter retryNow: whether attempts put off by failures are made at once.
    public func setFaults(_ faults: Faults, retryNow: Bool = true) async {
        await synchronize()
        world.faults = DeliveryFaults(
            isFailing: faults.isFailing,
            isPaused: faults.isPaused,
            repeats: max(0, min(faults.repeats, 10)),
            isReversed: faults.isReversed,
            lostAnswers: max(0, faults.lostAnswers)
        )
        if retryNow, !faults.isFailing {
            for index in world.deliveries.indices { world.deliveries[index].due = world.now }
        }
        isDirty = true
        await flush()
        save()
    }
}
