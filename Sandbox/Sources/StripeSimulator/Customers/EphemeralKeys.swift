/// Keys by which a device may look after one customer for an hour.
/// https://docs.stripe.com/payments/mobile/accept-payment#add-server-endpoint
enum EphemeralKeys {
    static let routes: [Route] = [
        .post("ephemeral_keys") { world, call in
            guard call.namesVersion else {
                throw APIError.invalid(
                    "You must provide an explicit Stripe-Version header: the version that the "
                        + "mobile library speaks."
                )
            }
            let customer = try call.parameters.required("customer")
            _ = try world.find(.customer, customer, param: "customer")
            let key = world.blank(
                .ephemeralKey,
                [
                    "associated_objects": [
                        ["id": .string(customer), "type": "customer"]
                    ],
                    "expires": .int(world.now + 3_600),
                    "secret": .string("ek_test_" + world.random.token(60)),
                ]
            )
            var shown = key
            shown.remove("metadata")
            world.put(.ephemeralKey, shown)
            return shown
        },
        .delete("ephemeral_keys/:id") { world, call in
            var key = try world.find(.ephemeralKey, call.ids[0])
            _ = world.delete(.ephemeralKey, call.ids[0])
            key["expires"] = .int(world.now)
            key["secret"] = .null
            return key
        },
    ]
}
