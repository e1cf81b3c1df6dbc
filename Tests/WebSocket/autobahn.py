"""Runs the cases of the Autobahn test suite with kosoku, which brings them and runs them in
Python 3; its own runner is for Python 2.7. kosoku has no TLS: for wss it connects to a bridge."""

import asyncio
import os
import ssl
import sys
import tempfile

import kosoku

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Conformance"))
from tls import make_certificate  # noqa: E402

GROUPS = ["%d.*" % group for group in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
CASES = 301
WAIT = 240


async def copy(reader, writer):
    """Passes on bytes as they arrive, and the end."""
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def bridge(port):
    """A server that passes on what it receives to `port`, over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])

    async def connected(reader, writer):
        above, below = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        await asyncio.gather(copy(reader, below), copy(above, writer))

    return await asyncio.start_server(connected, "127.0.0.1", 0)


async def run(port, cases):
    address = "ws://127.0.0.1:%d/v1/socket" % port
    try:
        running = kosoku.run_fuzzingclient(address, cases=cases, concurrency=4)
        return await asyncio.wait_for(running, WAIT)
    except kosoku.FailureError as failure:
        return failure.results


def report(carrier, results):
    """Prints what the cases resulted in; the number of those that failed."""
    verdicts, failed = {}, []
    for result in results:
        verdicts.setdefault(result.behavior.value, []).append(result.case_id)
        if not result.passed:
            failed.append(result)
    counts = ["%d cases" % len(results)]
    for verdict, cases in verdicts.items():
        few = " (%s)" % ", ".join(cases) if len(cases) <= 10 else ""
        counts.append("%d %s%s" % (len(cases), verdict, few))
    print("%s: %s" % (carrier, "; ".join(counts)))
    for result in failed:
        print("  %s: %s, %s\n    behavior: %s\n    close: %s" % (
            result.case_id, result.behavior.value, result.behavior_close.value, result.result,
            result.result_close))
    return len(failed)


async def main(program, chosen):
    """What is wrong, as `sys.exit` takes it."""
    cases = chosen.split(",") if chosen else GROUPS
    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.create_subprocess_exec(
            program, *make_certificate(folder), stdout=asyncio.subprocess.PIPE)
        try:
            line = await asyncio.wait_for(server.stdout.readline(), 20)
            plain, secure = map(int, line.split()[1:])
            over_tls = await bridge(secure)
            failures, count = 0, 0
            for carrier, port in (
                    ("ws", plain), ("wss", over_tls.sockets[0].getsockname()[1])):
                results = await run(port, cases)
                failures += report(carrier, results)
                count += len(results)
        finally:
            if server.returncode is None:
                server.terminate()
            await server.wait()
    if server.returncode != 0:
        return "the echo server ended with %d" % server.returncode
    if not chosen and count != 2 * CASES:
        return "%d cases were run instead of %d" % (count, 2 * CASES)
    print("%d passed, %d failed" % (count - failures, failures))
    return int(failures > 0)


sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))
