/// A text from outside, with everything escaped that a terminal would obey.
///
/// Controls, and the marks that turn the direction of what follows.
public func visible(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
            shown += "\\u{\(String(scalar.value, radix: 16))}"
        default:
            shown.unicodeScalars.append(scalar)
        }
    }
    return shown
}
