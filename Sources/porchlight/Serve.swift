// `porchlight serve`: the settings are read and checked, made into a configuration, and run.

import ArgumentParser
import CommandSupport
import EventLoop
import Foundation
import Logging
import OutgoingHTTP
import PresenceGateway
import PresenceHTTP
import PresenceServer
import TLSSessions
import TaskLoops

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Prints one line when it is ready. On SIGTERM or SIGINT it notifies clients, commits \
            all writes and exits with code 0. On SIGHUP it reads its settings, keys and \
            certificates again.

            There are more settings than flags: see `porchlight config`.
            """)

    @OptionGroup var file: SettingsFileOption

    @OptionGroup var flags: SettingFlags

    /// For a program that starts the service, which is to end with that program.
    @Flag(help: .hidden) var untilInputEnds = false

    func run() throws {
        if untilInputEnds {
            closeInherited()
            try stopWhenInputEnds()
        }
        do {
            try serve()
        } catch let error as CommandError {
            AdjustableLog.announce(error: error.description)
            throw ExitCode.failure
        }
    }

    /// Reads the settings, and waits for what may come by itself.
    private func serve() throws {
        // Before the loop handles SIGHUP and after it, the signal must not end the process.
        signal(SIGHUP, SIG_IGN)
        defer { signal(SIGHUP, SIG_IGN) }
        let sources = flags.sources(file)
        var read = try reject { try Self.readFiles(sources) }
        LoggingSystem.bootstrap { AdjustableLog(label: $0) }
        let logger = Logger(label: "porchlight")
        while true {
            read.files.keys.warn(logger)
            read.files.tls.warn(logger)
            switch try Self.wait(read.inForce.settings, logger) {
            case .ended: return
            case .atOnce:
                return try serve(read.inForce, read.files, read.tickets, from: sources, logger)
            case .later:
                // Keys and certificates may have been replaced meanwhile.
                read = try reject { try Self.readFiles(sources) }
            }
        }
    }

    /// Reads the settings and the files that they name.
    private static func readFiles(
        _ sources: SettingSources
    ) throws -> (inForce: SettingsInForce, files: ServiceFiles, tickets: TLSTicketKeys) {
        let inForce = try sources.read()
        AdjustableLog.apply(inForce.settings.live)
        try DescriptorBudget(inForce.settings).check()
        try MemoryLimit.current().check()
        let tickets = try TLSFiles.makeTicketKeys()
        return (inForce, try ServiceFiles(inForce.settings, tickets: tickets), tickets)
    }

    private static func wait(
        _ settings: ServiceSettings, _ logger: Logger
    ) throws(CommandError) -> StartWait.End {
        do throws(UVError) {
            return try settings.awaitWhatMayCome(logger)
        } catch {
            throw CommandError(ServiceError.system(error).description)
        }
    }

    /// Runs the service with what was read.
    private func serve(
        _ inForce: SettingsInForce, _ files: ServiceFiles, _ tickets: TLSTicketKeys,
        from sources: SettingSources, _ logger: Logger
    ) throws {
        let settings = inForce.settings
        let outgoing = OutgoingHTTP.onThreadOfItsOwn()
        defer { outgoing.loop.wait { await outgoing.stop() } }
        let authenticator = CredentialAuthenticator(
            files.keys, settings.tokenRules, over: outgoing, logger: logger)
        let watchdog = Supervisor.watchdog(seconds: settings.startup.watchdogSeconds, logger)
        let reference = ServiceReference()
        let http = try settings.startHTTP(authenticator.keys, files.tls.http, watchdog, reference)
        defer { http?.stop() }
        let senders = Senders(
            files, over: outgoing, directory: settings.dataDirectory, logger: logger)
        let certificates = CertificateWatch(files.tls, logger: logger) {
            Loop.wallMilliseconds() / 1_000
        }
        let checks = certificates.begin(on: outgoing.loop)
        defer { checks.cancel() }
        let furtherMetrics: @Sendable () -> [UInt8] = {
            AdjustableLog.output.metricsText() + certificates.metricsText()
                + senders.metricsText()
        }
        do throws(ServiceError) {
            var configuration = settings.configuration(
                files.tls, authenticator, push: senders.offer, furtherMetrics)
            configuration.watchdog = watchdog
            let service = try Service(configuration, logger: logger)
            let reloading = Reloading(
                sources, ReloadedState(inForce, files), tickets: tickets, logger: logger
            ) { [control = service.control] state in
                let (settings, tls) = (state.settings, state.tls)
                control.apply(
                    settings.configuration(
                        tls, authenticator, push: senders.offer, furtherMetrics))
                http?.apply(settings.live, tls.http)
                certificates.replace(with: tls)
                authenticator.replace(with: state.keys)
                AdjustableLog.apply(settings.live)
            }
            let signals: [CInt: SignalMeaning] = [
                SIGTERM: .stop, SIGINT: .stop, SIGHUP: .call { reloading.ask() },
            ]
            try service.run(signals: signals) {
                [
                    control = service.control, readers = service.readers,
                    addresses = addresses(of: service, http)
                ] in
                reference.open(to: control)
                // Not before: a start that is rejected is one sentence.
                logger.notice(
                    "started",
                    metadata: settings.logged.merging(files.keys.logged) { $1 })
                // A full disk behind standard output must not stop the service.
                try? announce("ready on \(addresses)")
                Supervisor.tell(Supervisor.ready)
                senders.start(reference, from: readers)
            } ended: {
                senders.stop()
            }
        } catch {
            try settings.fail(error)
        }
    }

    /// Where clients connect to, for the line that says that it is ready.
    private func addresses(of service: Service, _ http: HTTPServer?) -> String {
        "\(service.address)" + (service.tlsAddress.map { ", tls on \($0)" } ?? "")
            + (service.xmppAddress.map { ", xmpp on \($0)" } ?? "")
            + (service.xmppTLSAddress.map { ", xmpps on \($0)" } ?? "")
            + (http?.address.map { ", http on \($0)" } ?? "")
            + (http?.tlsAddress.map { ", https on \($0)" } ?? "")
    }

    /// Closes what the other program has open, such as its listener: else its port would stay in
    /// use until the service ends, too.
    private func closeInherited() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in names.compactMap({ CInt($0) }) where descriptor > STDERR_FILENO {
            close(descriptor)
        }
    }

    /// Stops the service, as SIGTERM does, when standard input ends.
    private func stopWhenInputEnds() throws {
        let thread = try NamedThread(name: "input") {
            var byte: UInt8 = 0
            while true {
                let count = unsafe read(STDIN_FILENO, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            kill(getpid(), SIGTERM)
        }
        thread.detach()
    }
}

extension ServiceSettings {
    /// Ends a start, or a service, that has failed.
    fileprivate func fail(_ error: ServiceError) throws -> Never {
        guard case .address(_, let cause, let flag) = error else {
            throw CommandError(error.description)
        }
        try failToListen(error.description, cause, flag)
    }

    /// Ends a start that cannot listen on an address. The error also says where that is from.
    ///
    /// - Parameter flag: that of the setting, such as `--listen`.
    func failToListen(_ sentence: String, _ cause: UVError, _ flag: String) throws -> Never {
        let error = CommandError("\(sentence) \(places.source(of: flag))")
        guard cause.mayPass else { throw error }
        AdjustableLog.announce(error: error.description)
        throw ExitCode.temporaryFailure
    }

    /// What the log says at the start: what a user may have meant otherwise.
    fileprivate var logged: Logger.Metadata {
        [
            "version": "\(programVersion)", "auth": "\(startup.auth.rawValue)",
            "data": "\(absolutePath(startup.dataDirectory))",
        ]
    }
}
