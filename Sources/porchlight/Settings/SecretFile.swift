import CommandSupport
import Foundation

/// Reads a file with secrets or keys whole that a setting names, at a place (`SettingPlaces`).
func readSecretFile(
    _ path: String, _ place: String, _ occasion: ReadOccasion
) throws(SettingsError) -> [UInt8] {
    do throws(FileError) {
        return try readSecretFile(path, occasion)
    } catch {
        throw SettingsError("The file \(path) \(place) cannot be read: \(error.words).")
    }
}

/// Whether all users of the machine can read a file: then what it holds is not secret.
func isReadableByAll(_ path: String) -> Bool {
    // A symbolic link has no permissions of its own.
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: file)
    return (attributes?[.posixPermissions] as? Int ?? 0) & 0o004 != 0
}
