"""Crowds that say nothing, or too much."""

import contextlib
import select
import socket
import struct
import time

from support import WAIT, Service, case, require, room_for, say


def wave(service, count, healthy, first=b""):
    """Clients that connect and never log in; returns after how long they were closed."""
    begin = time.monotonic()
    crowd = {}
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", service.port), 10)
        connection.setblocking(False)
        if first:
            connection.send(first)
        crowd[connection.fileno()] = connection
    poll = select.epoll()
    for descriptor in crowd:
        poll.register(descriptor, select.EPOLLIN)
    slowest, last = 0, begin
    while crowd and time.monotonic() - begin < 25:
        sent = time.monotonic()
        healthy.ok("ping")
        slowest = max(slowest, time.monotonic() - sent)
        for descriptor, _ in poll.poll(0.05):
            connection = crowd.get(descriptor)
            try:
                isOver = connection.recv(4096) == b""
            except BlockingIOError:
                continue
            except OSError:
                isOver = True
            if isOver:
                poll.unregister(descriptor)
                crowd.pop(descriptor).close()
                last = time.monotonic()
    left = len(crowd)
    for connection in crowd.values():
        connection.close()
    require(left == 0, "%d of %d are still there after 25 s", left, count)
    return last - begin, slowest


@case("clients that never log in are closed after 10 s, and their memory is returned")
def silent_crowd():
    count = 5000
    room_for(count + 500)
    with Service("--rate-limits", "off", prefix=["prlimit", "--nofile=20000"]) as service:
        healthy = service.login("healthy")
        memory, before = [], service.descriptors()
        for first in (b"", b"\0", b"\0\0\x3f\xff{"):
            took, slowest = wave(service, count, healthy, first)
            time.sleep(0.5)
            memory.append(service.memory_kibibytes())
            require(9 < took < 15, "the last one left after %.1f s", took)
            require(slowest < 5, "a ping took %.2f s meanwhile", slowest)
            say("%d that sent %d bytes: the last left after %.1f s, slowest ping %.0f ms, %d KiB",
                count, len(first), took, slowest * 1000, memory[-1])
        require(memory[-1] < memory[0] * 1.2 + 2048, "memory grows: %s KiB", memory)
        more = service.descriptors() - before
        require(more < 8, "%d more descriptors than before", more)


def costly_request(count):
    """A valid request of nearly so many bytes that is as much work to read as can be."""
    members = ",".join('"%x":1' % number for number in range(count // 9))
    body = ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":{%s}}}' % members).encode()
    require(len(body) <= count, "a request of %d bytes", len(body))
    return struct.pack(">I", len(body)) + body


@case("200 clients that send 3 MB of costly requests at once do not delay a ping", quick=True)
def flood_of_large_requests():
    with Service() as service:
        healthy = service.login("healthy")
        frames = memoryview(costly_request(53_000) * 56)
        senders = [[service.login("c%d" % number).socket, frames] for number in range(200)]
        for sender, _ in senders:
            sender.setblocking(False)
        slowest, accepted = 0, 0
        for _ in range(30):
            for entry in senders:
                with contextlib.suppress(BlockingIOError):
                    while entry[1]:
                        count = entry[0].send(entry[1])
                        entry[1] = entry[1][count:]
                        accepted += count
            sent = time.monotonic()
            healthy.ok("ping")
            slowest = max(slowest, time.monotonic() - sent)
        # It was 11 s; what is promised is 0.1 s, on a machine that does nothing else.
        require(slowest < 5, "a ping took %.2f s", slowest)
        require(service.is_alive(), "it died: %s", service.log_text()[-300:])
        say("%d MB sent, slowest ping %.0f ms", accepted >> 20, slowest * 1000)


@case("many clients of one address do not keep others out", quick=True)
def crowd_from_one_address():
    room_for(3000)
    with Service(prefix=["prlimit", "--nofile=4000"]) as service:
        healthy = service.login("healthy")
        crowd = []
        for _ in range(1000):
            with contextlib.suppress(OSError):
                crowd.append(socket.create_connection(("127.0.0.1", service.port), WAIT))
        slowest = 0
        for _ in range(20):
            sent = time.monotonic()
            healthy.ok("ping")
            slowest = max(slowest, time.monotonic() - sent)
        require(slowest < 5, "a ping took %.2f s", slowest)
        say("1,000 silent connections, %d descriptors, slowest ping %.0f ms",
            service.descriptors(), slowest * 1000)
        for connection in crowd:
            connection.close()


@case("little address space: many clients are served or rejected, the service lives", quick=True)
def little_memory():
    room_for(3000)
    # Stacks, libraries and SQLite's map take most of it before the first client.
    with Service("--rate-limits", "off", prefix=["prlimit", "--as=%d" % (700 << 20)]) as service:
        clients = [service.connect(receive_bytes=4096).login("c%d" % n) for n in range(200)]
        publishers = [service.login("p%d" % n) for n in range(30)]
        for client in clients:
            client.subscribe(*["p%d" % n for n in range(30)])
        for round in range(10):
            for publisher in publishers:
                publisher.ok("publish", {"type": 1, "value": 10000 + round, "ext": "x" * 4000})
        require(service.is_alive(), "it died: %s", service.log_text()[-300:])
        say("200 clients that read nothing: %d KiB resident", service.memory_kibibytes())


@case("the memory that slow clients needed is returned", quick=True)
def memory_comes_back():
    room_for(3000)
    with Service("--rate-limits", "off", "--disconnect-grace", "0") as service:
        publishers = [service.login("p%d" % n) for n in range(30)]
        before = service.memory_kibibytes()
        clients = [service.connect(receive_bytes=4096).login("c%d" % n) for n in range(1000)]
        for client in clients:
            client.subscribe(*["p%d" % n for n in range(30)])
        for round in range(15):
            for publisher in publishers:
                publisher.ok("publish", {"type": 1, "value": 10000 + round, "ext": "x" * 4000})
        peak = service.memory_kibibytes()
        for client in clients:
            client.close()
        # What is left is below what is worth a walk through the heaps: 16 MiB.
        enough, end = before * 1.2 + (16 << 10), time.monotonic() + WAIT
        while service.memory_kibibytes() > enough and time.monotonic() < end:
            publishers[0].ok("ping")
            time.sleep(0.2)
        after = service.memory_kibibytes()
        require(peak > 1.5 * enough, "the crowd took too little to tell: %d KiB", peak)
        require(after <= enough, "%d KiB before, %d at the peak, %d after", before, peak, after)
        say("%d KiB before, %d at the peak, %d after", before, peak, after)
