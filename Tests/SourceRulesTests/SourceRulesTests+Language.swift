import Foundation
import Testing

// What is written is in plain technical English: no phrase of the lists below, in pages outside
// code, in descriptions, and in strings and comments of the code. docs/GLOSSARY.md has the words to
// use. Add what you find in a review to a list, together with its replacement.

extension `Source rules` {
    typealias Phrase = (phrase: String, instead: String)

    /// Not anywhere.
    static let phrases: [Phrase] = [
        ("begin anew", "reset, restart"), ("begins anew", "is reset, restarts"),
        ("began anew", "was reset, restarted"), ("begun anew", "reset, restarted"),
        ("at his word", "self-asserted"), ("at its word", "self-asserted"),
        ("at their word", "self-asserted"), ("by your word", "self-asserted"),
        ("by his word", "self-asserted"), ("by their word", "self-asserted"),
        ("stands twice", "appears more than once"), ("stand twice", "appear more than once"),
        ("as it comes", "by default"), ("of the house", "of the project"),
        ("the rooms", "the modules"), ("for ever", "permanently, or nothing"),
        ("take none for granted", "do not rely on any"), ("a person", "a user, people"),
        ("too much to do", "is overloaded"), ("does not hold", "is invalid, is not true"),
        ("do not hold", "are invalid, are not true"), ("under way", "in progress, in flight"),
        ("on its way", "in flight"), ("on their way", "in flight"), ("let in", "accepted"),
        ("gone on with", "continued"), ("so many", "this number of, the length"),
        ("told of", "sent, notified of"), ("hear of", "receive"), ("hears of", "receives"),
        ("heard of", "received"), ("come back later", "reconnect later"),
        ("somebody", "a client, an account"), ("someone", "a client, an account"),
        ("anybody", "any client, any account"), ("anyone", "any client, any account"),
        ("everybody", "every client, all accounts"), ("everyone", "every client, all accounts"),
        ("nobody", "no client, no account"), ("no one", "no client, no account"),
        ("refuse", "reject, does not start"), ("refuses", "rejects, does not start"),
        ("refused", "rejected"), ("refusing", "rejecting"), ("refusal", "rejection"),
        ("refusals", "rejections"), ("at fault", "invalid"),
        ("whoever", "a client that"), ("he", "it, they"), ("him", "it, them"),
        ("his", "its, their"), ("himself", "itself"), ("she", "it, they"), ("her", "its, their"),
    ]

    /// Not in pages, descriptions and comments either.
    static let pagePhrases: [Phrase] = [
        ("anew", "again"), ("goes by", "is determined by, uses"), ("those who", "clients that"),
        ("who has", "a client that has"), ("who have", "clients that have"),
        ("has gone", "is closed, is offline, has ended"),
        ("have gone", "are closed, are offline, have ended"), ("is gone", "is closed, is lost"),
        ("are gone", "are closed, are lost"), ("has come", "has arrived, has connected"),
        ("have come", "have arrived, have connected"), ("come back", "reconnect"),
        ("comes back", "reconnects"), ("came back", "reconnected"), ("stands in", "is in"),
        ("stand in", "are in"), ("stands there", "is listed"), ("stand there", "are listed"),
        ("stands beside", "is next to"), ("of ours", "of the service"), ("by chance", "random"),
        ("watcher", "subscriber"), ("watchers", "subscribers"), ("turned away", "rejected"),
        ("turns away", "rejects"), ("judge", "verify"), ("judged", "verified"),
        ("verdict", "result"), ("gives way", "is dropped, is replaced"),
        ("give way", "are dropped, are replaced"), ("gave way", "was dropped, was replaced"),
        ("one too many", "above the limit"), ("goes on", "continues"), ("go on", "continue"),
        ("lest", "so that ... not"), ("likewise", "also"), ("mended", "fixed, repaired"),
        ("what there is", "the name of the thing"), ("told", "sent, notified, distinguished"),
        ("nil there is none", "nil if there is none"), ("pace", "rate, rate limit"),
        ("nil there are none", "nil if there are none"), ("hear", "receive, get"),
        ("hears", "receives, is notified"), ("take back", "reclaim"), ("takes back", "reclaims"),
        ("lately", "recently"), ("a moment ago", "recently"), ("in the end", "finally"),
        ("is there", "is online, exists"), ("are there", "are online, exist"),
        ("at hand", "available"), ("as good as", "almost"), ("otherwise than", "other than"),
    ]

    @Test func `pages are in plain technical English`() {
        // The glossary names what is not used.
        for page in SourceTree.pages where page.path != "docs/GLOSSARY.md" {
            for line in page.prose {
                check(line.text, for: Self.phrases + Self.pagePhrases, at: page, line.number)
            }
        }
    }

    @Test(arguments: ["docs/openapi.json", "docs/alerts.yml", "docs/grafana-dashboard.json"])
    func `descriptions are in plain technical English`(path: String) throws {
        let file = try #require(SourceTree.File(path))
        for (number, line) in file.lines.enumerated() {
            check(line.withoutCode, for: Self.phrases + Self.pagePhrases, at: file, number)
        }
    }

    @Test func `strings are in plain technical English`() {
        for file in SourceTree.swift where file.isSource {
            for literal in file.literals {
                check(literal.text, for: Self.phrases, at: file, literal.number)
            }
        }
    }

    @Test func `comments are in plain technical English`() {
        for file in SourceTree.swift where file.isSource {
            for comment in file.comments {
                check(comment.text, for: Self.phrases + Self.pagePhrases, at: file, comment.number)
            }
        }
    }

    @Test func `the verbs call subscribers by their name`() {
        let phrases: [Phrase] = ["watcher", "watchers", "follower", "followers"].map {
            (phrase: $0, instead: "subscriber, subscribers")
        }
        // The service's own files, where assertions may have these words, are not here.
        for file in SourceTree.swift
        where ["PresenceBench", "porchlight-bench", "CommandSupport"].contains(file.module)
            || file.path.hasPrefix("Sources/porchlight/") && !file.path.contains("/Settings/")
        {
            for literal in file.literals {
                check(literal.text, for: phrases, at: file, literal.number)
            }
        }
    }

    @Test func `phrases are found as whole words`() {
        func found(_ text: String) -> [String] {
            Self.found(Self.phrases, in: text).map(\.phrase)
        }
        #expect(found("Nobody logs in.") == ["nobody"])
        #expect(found("the cache, this, there, other, under_way, Sheet") == [])
        #expect(found("so many\nframes, as it comes") == ["as it comes", "so many"])
    }

    private func check(
        _ text: String, for phrases: [Phrase], at file: SourceTree.File, _ line: Int
    ) {
        for (phrase, instead) in Self.found(phrases, in: text) {
            let advice = "not \"\(phrase)\" but: \(instead)"
            Issue.record("\(Finding(file: file, line: line, advice: advice))")
        }
    }

    /// The phrases that `text` has, in the order of the list.
    private static func found(_ phrases: [Phrase], in text: String) -> [Phrase] {
        let words = text.lowercased().split { !$0.isLetter && $0 != "'" && $0 != "_" }
        let padded = " \(words.joined(separator: " ")) "
        return phrases.filter { padded.contains(" \($0.phrase) ") }
    }
}

extension SourceTree.File {
    typealias Text = (number: Int, text: String)

    /// The paragraphs of a page without code, each with the index of its first line.
    fileprivate var prose: [Text] {
        var isCode = false
        var paragraphs: [Text] = []
        var isOpen = false
        for (number, line) in lines.enumerated() {
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isCode.toggle() }
            guard !isCode, !isFence, !line.isEmpty else {
                isOpen = false
                continue
            }
            // A phrase may be broken over two lines of a paragraph, not over two rows of a table.
            if isOpen, !line.hasPrefix("|") {
                paragraphs[paragraphs.count - 1].text += " " + line
            } else {
                paragraphs.append((number, line))
            }
            isOpen = true
        }
        return paragraphs.map { ($0.number, $0.text.withoutCode) }
    }

    /// What is between quotation marks in the code, line by line; also the lines of long strings.
    fileprivate var literals: [Text] {
        var isLong = false
        return lines.enumerated().compactMap { number, line in
            if line.contains(#"""""#) {
                isLong.toggle()
                return nil
            }
            if isLong { return (number, line.withoutCode) }
            guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return nil }
            let quoted = line.components(separatedBy: "\"").enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element).joined(separator: " | ")
            return quoted.isEmpty ? nil : (number, quoted.withoutCode)
        }
    }

    /// The comments, those of several lines as one, each with the index of its first line.
    fileprivate var comments: [Text] {
        var comments: [Text] = []
        var isOpen = false
        for (number, line) in lines.enumerated() {
            let code = line.drop { $0 == " " }
            guard code.hasPrefix("//") else {
                isOpen = false
                let text = line.components(separatedBy: " // ").dropFirst().last
                if let text { comments.append((number, text)) }
                continue
            }
            let text = code.drop { $0 == "/" }
            if isOpen {
                comments[comments.count - 1].text += text
            } else {
                comments.append((number, String(text)))
            }
            isOpen = true
        }
        return comments.map { ($0.number, $0.text.withoutCode) }
    }
}

extension String {
    /// Without what is between backticks.
    fileprivate var withoutCode: String {
        components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            .joined(separator: " · ")
    }
}
