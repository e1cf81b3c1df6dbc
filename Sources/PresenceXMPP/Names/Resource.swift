internal import XML

/// The resource of a device's full JID. Every device has exactly one, and back: `a\b` is `a\5cb`.
public enum Resource {
    /// The device that a resource names; nil: none can have it. Strict, so that no two resources
    /// mean the same device.
    public static func device(of resource: [UInt8]) -> [UInt8]? {
        // Escapes of what needs none, and characters that need them, are found by the comparison.
        guard let device = JIDPart.unescaped(resource), NameSyntax.admits(device),
            self.resource(of: device) == resource
        else { return nil }
        return device
    }

    /// The device of a client that wishes to have this resource; nil: it needs another name.
    ///
    /// A client that is given `\5c` instead of `\` may ask for that the next time, and is the same
    /// device then.
    public static func device(wished resource: [UInt8]) -> [UInt8]? {
        device(of: resource) ?? (NameSyntax.admits(resource) ? resource : nil)
    }

    /// The resource of a device.
    public static func resource(of device: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        JIDPart.resource.append(device, to: &bytes)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the resource of a device as the value of an attribute, without quotes.
    mutating func appendResource(of device: some Collection<UInt8>) {
        if JIDPart.resource.isSame(as: device) {
            appendXML(attributeValue: device)
        } else {
            appendXML(attributeValue: Resource.resource(of: device))
        }
    }
}
