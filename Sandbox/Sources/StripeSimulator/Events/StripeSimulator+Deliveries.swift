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
        while let delivery = Deliveries.takeNext(&world) {
            guard let message = Deliveries.message(world, for: delivery, wall: configuration.wall())
            else {
                continue
            }
            let faults = world.faults
            if faults.isFailing || faults.isOutage(at: world.now)
                || delivery.chance(of: "drop").happens(in: faults.drop)
                || silent.contains(delivery.endpoint)
            {
                Deliveries.conclude(&world, delivery, delivered: false)
                isDirty = true
                continue
            }
            var outcome = await post(message, of: delivery, over: courier)
            if delivery.chance(of: "duplicate").happens(in: faults.duplicate) {
                let second = await post(message, of: delivery, over: courier)
                if outcome != .delivered { outcome = second }
            }
            if outcome == .silent { silent.insert(delivery.endpoint) }
            var isDelivered = outcome == .delivered
            if isDelivered, world.faults.lostAnswers > 0 {
                world.faults.lostAnswers -= 1
                isDelivered = false
            }
            if delivery.chance(of: "slow").happens(in: faults.slow) { isDelivered = false }
            Deliveries.conclude(&world, delivery, delivered: isDelivered)
            isDirty = true
        }
    }

    private func post(
        _ message: (url: String, body: String, secrets: [String]),
        of delivery: Delivery,
        over courier: Courier
    ) async -> Courier.Outcome {
        var signature = Signature.header(
            body: message.body,
            secrets: message.secrets,
            timestamp: configuration.wall()
        )
        if delivery.chance(of: "corrupt").happens(in: world.faults.corrupt) {
            signature = Signature.damaged(signature)
        }
        guard let deliver = configuration.deliver else {
            return await courier.post(message.body, to: message.url, signature: signature)
        }
        return await deliver(message.body, message.url, signature) ? .delivered : .refused
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

    /// Sets the faults; with none left, what waits is delivered before this returns.
    /// - Parameter retryNow: whether attempts put off by failures are made at once.
    public func setFaults(_ faults: Faults, retryNow: Bool = true) async {
        await synchronize()
        let wasFailing = world.faults.isFailing
        world.faults = faults.bounded
        if wasFailing != faults.isFailing { note(faults.isFailing ? "silence" : "speak") }
        if retryNow, !faults.isFailing, faults.drop == 0, faults.delay == 0 {
            for index in world.deliveries.indices { world.deliveries[index].due = world.now }
        }
        isDirty = true
        await flush()
        save()
    }
}
