/// A text from outside, with everything escaped that changes how a terminal shows it: control
/// characters, and marks for the direction of text.
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
