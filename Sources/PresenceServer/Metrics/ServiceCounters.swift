import Passwords
import PresenceCore
import PresenceWire
import PresenceXMPP

/// Counters of the service since startup.
///
/// Whatever counts has its own, in which it counts what it sees; `Measurements` adds them up.
struct ServiceCounters: Sendable {
    var accepted = 0
    var acceptFailures = 0
    var requests = 0
    var closedTooSlow = 0
    var violations = 0
    /// Connections ended since large messages that were not complete used too much in all.
    var largeInputsEnded = 0
    /// Answers to clients that had not asked: defects of the service.
    var answersMismatched = 0
    /// Connections that became WebSockets, those whose page's origin was rejected, and pings.
    var webSockets = 0
    var originsRejected = 0
    var pingsSent = 0
    var storeFailures = 0
    /// Connections rejected because a connection limit was reached.
    var connectionsRejected = 0
    /// Logins rejected with a time after which to retry.
    var loginsDelayed = 0
    /// Requests rejected because memory was short.
    var rejectedForMemory = 0
    /// Times that free memory was returned to the kernel.
    var memoryReturns = 0
    /// Time in which no input of the loops was taken, since one of them was full.
    var inputHeldMilliseconds = 0
    /// Requests rejected because the store was far behind.
    var rejectedForStore = 0
    /// Times that a connection was throttled.
    var throttled = 0
    /// Tokens submitted for verification.
    var tokensSubmitted = 0
    /// Tokens that were rejected.
    var tokensRejected = 0
    /// Sessions ended because their token expired.
    var tokensExpired = 0
    /// Tokens not verified because too many were waiting.
    var tokensOverLimit = 0
    /// Feed readers that were reset.
    var feedResets = 0
    /// Logins of accounts, reconnects included.
    var loginsOfClients = 0
    /// Logins of app servers.
    var loginsOfAppServers = 0
    /// Logins rejected, by reason.
    var loginsRejected = Tally<Rejection.Reason>()
    /// Requests rejected, logins included, by reason.
    var rejections = Tally<Rejection.Reason>()
    /// Frames without a well-formed request, by reason.
    var malformed = Tally<EnvelopeError.Reason>()
    /// Requests that were parsed and had valid parameters, by method.
    var requestsByMethod = Tally<MethodName>()
    /// Connections closed, by reason.
    var endings = Tally<Ending>()
    /// Connections accepted by listeners for XMPP.
    var xmppAccepted = 0
    /// Valid stanzas of bound XMPP clients, by kind.
    var stanzas = Tally<Stanza.Kind>()
    /// Stanzas that were answered with an error, by its condition.
    var stanzaErrors = Tally<StanzaError.Condition>()
    /// Streams of XMPP that were closed with an error, by its condition.
    var streamErrors = Tally<StreamError.Condition>()
    /// Authentications of XMPP clients that failed, by condition.
    var saslFailures = Tally<SASLFailure>()
    /// Authentications of XMPP clients that succeeded, by mechanism.
    var xmppLogins = Tally<XMPPLogin>()
}

/// How an XMPP client has proved to be its account.
enum XMPPLogin: String, CaseIterable, Sendable {
    /// By PLAIN, without proof: identities are self-asserted.
    case claimed = "plain_claimed"
    /// By PLAIN, with a token as password.
    case token = "plain_token"
    /// By PLAIN, with the password of the account.
    case password = "plain_password"
    /// By SCRAM.
    case scramSHA1 = "scram_sha1"
    case scramSHA256 = "scram_sha256"

    /// By SCRAM with this hash function.
    init(_ hash: ScramHash) {
        switch hash {
        case .sha1: self = .scramSHA1
        case .sha256: self = .scramSHA256
        }
    }
}
