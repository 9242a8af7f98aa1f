/// Products: what is sold. https://docs.stripe.com/api/products
enum Products {
    /// Makes a product. https://docs.stripe.com/api/products/object
    static func add(_ world: inout World, id: String? = nil, name: String) -> JSON {
        world.blank(
            .product,
            id: id,
            nulls: """
                default_price description package_dimensions shippable statement_descriptor tax_code \
                tax_details unit_label url
                """,
            [
                "active": true, "images": [], "marketing_features": [], "name": .string(name),
                "type": "service", "updated": .int(world.now),
            ]
        )
    }

    static let routes: [Route] = [
        .post("products") { world, call in
            let id = try call.parameters.string("id")
            if let id, world.get(.product, id) != nil {
                throw APIError.invalid(
                    "Product already exists: \(id).",
                    code: "resource_already_exists",
                    param: "id"
                )
            }
            var product = add(
                &world,
                id: id,
                name: try call.parameters.required("name")
            )
            try read(&call.parameters, into: &product)
            let productID = product["id"].text
            world.put(.product, product)
            let price = try call.parameters.object("default_price_data") { part in
                try Prices.add(&world, from: &part, product: productID)
            }
            if let price { product["default_price"] = price["id"] }
            world.put(.product, product)
            world.emit("product.created", product)
            return product
        },
        .get("products") { world, call in
            let isActive = try call.parameters.bool("active")
            let ids = try call.parameters.strings("ids")
            call.parameters.ignore("shippable", "url", "type")
            return try world.list(.product, &call) { product in
                (isActive.map { product["active"].bool == $0 } ?? true)
                    && (ids.map { $0.contains(product["id"].text) } ?? true)
            }
        },
        .get("products/search") { world, call in try world.search(.product, &call) },
        .get("products/:id") { world, call in try world.find(.product, call.ids[0]) },
        .post("products/:id") { world, call in
            var product = try world.find(.product, call.ids[0])
            if let name = try call.parameters.string("name") { product["name"] = .string(name) }
            if let price = try call.parameters.string("default_price") {
                _ = try world.find(.price, price, param: "default_price")
                product["default_price"] = .string(price)
            }
            try read(&call.parameters, into: &product)
            product["updated"] = .int(world.now)
            let changed = product
            return world.change(.product, call.ids[0], event: "product.updated") { $0 = changed }
        },
        .delete("products/:id") { world, call in
            let product = try world.find(.product, call.ids[0])
            guard !world.all(.price).contains(where: { $0["product"] == product["id"] }) else {
                throw APIError.invalid(
                    "This product cannot be deleted because it has one or more user-created prices."
                )
            }
            world.emit("product.deleted", product)
            return world.delete(.product, call.ids[0])
        },
    ]

    private static func read(_ parameters: inout Parameters, into product: inout JSON) throws {
        try parameters.patch(
            &product,
            "description",
            "statement_descriptor",
            "unit_label",
            "url",
            "tax_code"
        )
        try parameters.patchBool(&product, "active")
        try parameters.patchBool(&product, "shippable")
        try parameters.metadata(into: &product)
        if let images = try parameters.strings("images") { product["images"] = JSON(images) }
        let features = try parameters.objects("marketing_features") { part in
            JSON.object(["name": .string(try part.required("name"))])
        }
        if let features { product["marketing_features"] = .array(features) }
        if let type = try parameters.choice("type", of: ["good", "service"]) {
            product["type"] = .string(type)
        }
        parameters.ignore("package_dimensions", "tax_details")
    }

    static func name(_ world: World, of price: JSON) -> String {
        world.get(.product, price["product"].reference)?["name"].string ?? "Product"
    }
}
