/// A text from outside, with everything escaped that changes how a terminal shows it: control
/// characters, and marks for the direction of text.
public func visible(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
        if scalar.isVisible {
            shown.unicodeScalars.append(scalar)
        } else {
            shown += "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
    return shown
}

extension Unicode.Scalar {
    /// Whether a terminal shows it as it is, and nothing else otherwise because of it.
    public var isVisible: Bool {
        if isASCII { return (0x20..<0x7F).contains(value) }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
