extension SimulatedAppStore {
    func app() -> ControlBody.App { ControlBody.App(world, in: environment) }

    /// What is left out stays as it is; an empty notification URL stands for none.
    func setUp(_ app: ControlBody.App) async {
        setApp(
            bundleID: app.bundleID ?? world.bundleID,
            appAppleID: app.appAppleID ?? world.appAppleID
        )
        if let version = app.notificationVersion { await setNotificationVersion(version) }
        if let secret = app.sharedSecret { setSharedSecret(secret) }
        if let url = app.notificationURL { setNotificationURL(url.isEmpty ? nil : url) }
    }
}
