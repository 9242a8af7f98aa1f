import Foundation
import Testing

@testable import BillingSDK

/// U1: the SDK's files are protected, in no backup, and shared by an app and its widget.
@Suite struct FilesOnTheDeviceTests {
    private static func folder() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("billing-sdk-" + UUID().uuidString)
    }

    @Test func theyAreReadableSinceTheFirstUnlockAndInNoBackup() {
        let asked = Locked<[String]>([])
        @Sendable func note(_ text: String) { asked.withLock { $0.append(text) } }
        let disk = Disk(
            makeFolder: { note("folder \($0.lastPathComponent)") },
            setProtection: { note("\($0.rawValue) of \($1.lastPathComponent)") },
            setValues: { values, url in
                let isExcluded = values.isExcludedFromBackup ?? false
                note("no backup of \(url.lastPathComponent): \(isExcluded)")
            },
            read: { _ in nil },
            write: { _, url, options in
                let isProtected = options.contains(
                    .completeFileProtectionUntilFirstUserAuthentication
                )
                let isAtomic = options.contains(.atomic)
                note("\(url.lastPathComponent), protected \(isProtected), atomic \(isAtomic)")
            },
            lock: { url in
                note("\(url.lastPathComponent)")
                return {}
            }
        )
        let storage = OfflineStorage.files(in: Self.folder(), for: "pk_1", on: disk)
        storage.save(.answer, Data([1]))
        storage.save(.keys, Data([2]))
        #expect(
            asked.withLock { $0 } == [
                "folder pk_1", "no backup of pk_1: true",
                "NSFileProtectionCompleteUntilFirstUserAuthentication of pk_1",
                "answer, protected true, atomic true", "keys, protected true, atomic true",
            ]
        )
    }

    @Test func theDiskOfThisDeviceTakesThem() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = OfflineStorage.files(in: folder, for: "pk_1")
        storage.alone { storage.save(.inbox, Data([1])) }
        let place = folder.appendingPathComponent("pk_1")
        #expect(try Data(contentsOf: place.appendingPathComponent("inbox")) == Data([1]))
        storage.save(.inbox, nil)
        #expect(storage.load(.inbox) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["lock"])
    }

    @Test func whatCannotBeWrittenHoldsAsLongAsTheProcess() {
        let isFull = Locked(true)
        var disk = Disk.ofThisDevice
        disk.write = { data, url, options in
            if isFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
            try data.write(to: url, options: options)
        }
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = OfflineStorage.files(in: folder, for: "pk_1", on: disk)
        storage.save(.answer, Data([1]))
        #expect(storage.load(.answer) == Data([1]))
        #expect(OfflineStorage.files(in: folder, for: "pk_1").load(.answer) == nil)
        isFull.withLock { $0 = false }
        storage.save(.answer, Data([2]))
        #expect(OfflineStorage.files(in: folder, for: "pk_1").load(.answer) == Data([2]))
    }

    // MARK: - Before the first unlock

    /// A disk whose files exist, but can be neither read nor written until it is unlocked.
    private static func locked() -> (disk: Disk, isLocked: Locked<Bool>) {
        let isLocked = Locked(true)
        var disk = Disk.ofThisDevice
        disk.read = { [read = disk.read] file in
            if isLocked.withLock({ $0 }) { throw CocoaError(.fileReadNoPermission) }
            return try read(file)
        }
        disk.write = { [write = disk.write] data, file, options in
            if isLocked.withLock({ $0 }) { throw CocoaError(.fileWriteNoPermission) }
            try write(data, file, options)
        }
        return (disk, isLocked)
    }

    @Test func whatCannotBeReadYetIsNotReplacedAsIfItWereEmpty() {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = OfflineStorage.files(in: folder, for: "pk_1")
        let now: @Sendable () -> Date = { Date(timeIntervalSince1970: 1) }
        let old = PurchaseInbox(storage: before, now: now)
            .add(productID: "monthly", origin: .purchaseIntent)
        let done = PurchaseInbox(storage: before, now: now)
            .add(productID: "coins", origin: .purchaseIntent)
        ClaimedTransactions(storage: before).keep(
            .init(signature: "old"),
            .purchased,
            of: "cus_ada",
            at: now()
        )
        ClaimedTransactions(storage: before).keep(
            .init(signature: "taken"),
            .purchased,
            of: "cus_ada",
            at: now()
        )

        let (disk, isLocked) = Self.locked()
        let storage = OfflineStorage.files(in: folder, for: "pk_1", on: disk)
        let inbox = PurchaseInbox(storage: storage, now: now)
        let new = inbox.add(productID: "code", origin: .code)
        inbox.finish(done.id)
        ClaimedTransactions(storage: storage).keep(
            .init(signature: "new"),
            .purchased,
            of: "cus_ada",
            at: now()
        )
        ClaimedTransactions(storage: storage).end(.init(signature: "taken"))
        #expect(inbox.pending == [new])

        isLocked.withLock { $0 = false }
        #expect(inbox.pending == [old, new])
        storage.alone {}
        let next = OfflineStorage.files(in: folder, for: "pk_1")
        #expect(PurchaseInbox(storage: next, now: now).pending == [old, new])
        let claims = ClaimedTransactions(storage: next).purchases(of: "cus_ada")
        #expect(claims.map(\.signature) == ["old", "new"])
    }

    @Test func aVisitorsSecretOfBeforeTheFirstUnlockJoinsTheOthers() {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        func visitors(_ disk: Disk) -> (VisitorPurchases, OfflineStorage) {
            let app = TestApp(configure: { $0.cacheDirectory = folder })
            let storage = OfflineStorage.files(
                in: folder,
                for: FakeServer.publishableKey,
                on: disk
            )
            return (VisitorPurchases(client: app.billing.client, storage: storage), storage)
        }
        let first = visitors(.ofThisDevice).0.reference()
        let (disk, isLocked) = Self.locked()
        let (later, storage) = visitors(disk)
        let second = later.reference()
        #expect(second != first && later.reference() == second)
        isLocked.withLock { $0 = false }
        storage.alone {}
        let kept = storage.load(.visitorSecrets).map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(kept.components(separatedBy: #""secret""#).count == 3)
    }

    @Test func anAnswerThatCannotBeReadYetIsThereAfterTheUnlock() async throws {
        let phone = OfflineTests.Phone()
        #expect(try await phone.launch().keys() == ["premium"])
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.unreachable)
        let (disk, isLocked) = Self.locked()
        let bought = StoreKitStatement(transaction: DeviceEvaluationTests.transaction())
        let app = phone.launch(storeKit: { [bought] }, disk: disk)
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
        isLocked.withLock { $0 = false }
        #expect(try await app.keys() == ["premium"])
        #expect(try await phone.launch().keys() == ["premium"])
    }

    @Test func signingOutBeforeTheFirstUnlockLeavesNothing() {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        OfflineStorage.files(in: folder, for: "pk_1").save(.answer, Data([1]))
        let (disk, isLocked) = Self.locked()
        OfflineStorage.files(in: folder, for: "pk_1", on: disk).save(.answer, nil)
        isLocked.withLock { $0 = false }
        #expect(OfflineStorage.files(in: folder, for: "pk_1").load(.answer) == nil)
    }

    // MARK: - An app and its widget

    @Test func twoProcessesThatAddTogetherLoseNothing() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = folder.path as String, number = number as Int] in
                        Self.addPurchases(in: URL(fileURLWithPath: path), as: number)
                    }
                }
            }
        }
        let inbox = Self.inbox(in: folder)
        #expect(Set(inbox.pending.map(\.productID)).count == 200)
        #expect(inbox.pending.count == 200)
    }

    private static func inbox(in folder: URL) -> PurchaseInbox {
        PurchaseInbox(
            storage: .files(in: folder, for: "pk_1"),
            now: { Date(timeIntervalSince1970: 1) }
        )
    }

    /// One of two processes that begin together.
    private static func addPurchases(in folder: URL, as number: Int) {
        func sign(_ number: Int) -> String {
            folder.appendingPathComponent("ready \(number)").path
        }
        FileManager.default.createFile(atPath: sign(number), contents: nil)
        while !FileManager.default.fileExists(atPath: sign(1 - number)) {}
        let inbox = inbox(in: folder)
        for index in 0..<100 {
            inbox.add(productID: "\(number) \(index)", origin: .purchaseIntent)
        }
    }

    @Test func whatTheAppHearsHoldsForTheWidgetThatRunsBeside() async throws {
        let phone = OfflineTests.Phone()
        let (app, widget) = (phone.launch(), phone.launch())
        #expect(try await app.keys() == ["premium"])
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.unreachable)
        #expect(try await widget.keys() == ["premium"])
        let purchase = app.billing.purchaseInbox.add(productID: "monthly", origin: .code)
        #expect(widget.billing.purchaseInbox.pending == [purchase])
        widget.billing.purchaseInbox.finish(purchase.id)
        #expect(app.billing.purchaseInbox.pending == [])
    }

    @Test func aWidgetThatKnowsNobodyDoesNotSignTheAppOut() async throws {
        let phone = OfflineTests.Phone()
        var disk = Disk.ofThisDevice
        disk.isOfExtension = true
        let (app, widget) = (phone.launch(), phone.launch(disk: disk))
        #expect(try await app.keys() == ["premium"])
        widget.signIn(nil)
        #expect(try await widget.keys() == [])
        phone.server.clock.advance(by: 3600)
        phone.server.mood(.unreachable)
        #expect(try await app.keys() == ["premium"])
        #expect(try await phone.launch().keys() == ["premium"])
        // The process that had the customer says that they have left, and reset() says it anywhere.
        phone.server.mood(.well)
        #expect(try await app.keys() == ["premium"])
        app.signIn(nil)
        app.billing.client.customerChanged()
        #expect(try await app.keys() == [])
        phone.server.mood(.unreachable)
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }

    @Test func anAppWhoseProviderKnowsNobodyGivesNobodyTheLastCustomersAnswer() async throws {
        let phone = OfflineTests.Phone()
        #expect(try await phone.launch().keys() == ["premium"])
        var disk = Disk.ofThisDevice
        for isOfExtension in [true, false] {
            disk.isOfExtension = isOfExtension
            let app = phone.launch(disk: disk)
            app.signIn(nil)
            #expect(try await app.keys() == [])
            app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
            let error = await billingError { try await app.keys() }
            #expect(error?.name == "customerSessionProviderFailed")
        }
        #expect(!FileManager.default.fileExists(atPath: phone.file.path))
    }

    @Test func aWidgetThatResetsSignsOut() async throws {
        let phone = OfflineTests.Phone()
        let (app, widget) = (phone.launch(), phone.launch())
        #expect(try await app.keys() == ["premium"])
        await widget.billing.reset()
        #expect(!FileManager.default.fileExists(atPath: phone.file.path))
    }

    @Test func anOlderAnswerDoesNotReplaceANewerOne() async throws {
        let phone = OfflineTests.Phone()
        let (app, widget) = (phone.launch(), phone.launch())
        let client = widget.billing.client
        phone.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        let older = try Data(contentsOf: phone.file)
        phone.server.clock.advance(by: 120)
        phone.server.grant("premium", "pro", to: "cus_ada")
        _ = try await app.keys(forceRefresh: true)
        struct Kept: Decodable { var token: String }
        client.offline.keep(
            token: try JSONDecoder().decode(Kept.self, from: older).token,
            names: [],
            customer: "cus_ada",
            at: phone.server.clock.now,
            if: { true }
        )
        #expect(
            client.offline.answer(for: "cus_ada", at: phone.server.clock.now)?.entitlements
                .map(\.lookupKey)
                .sorted() == ["premium", "pro"]
        )
    }
}
