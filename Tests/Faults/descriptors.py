"""Descriptors run out: nobody who is in may notice, and it passes by itself."""

import os
import socket
import time

from support import Closed, Service, case, require, say


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def come_back(service, end):
    """Logs in, and tries again where it is told to come back."""
    while True:
        client = service.connect()
        try:
            return client.login("late")
        except Closed:
            require(client.closing and client.closing["code"] == 4504, "closed: %s",
                    client.closing)
            require(time.monotonic() < end, "still not let in")
            time.sleep(0.1)


@case("descriptors run out: who is in is served and stored, the others wait, it recovers",
      quick=True)
def descriptors_run_out():
    with Service("--rate-limits", "off", prefix=["prlimit", "--nofile=100:100"]) as service:
        inside = [service.login("in%d" % number) for number in range(20)]
        before = service.descriptors()
        crowd = []
        for number in range(200):
            crowd.append(socket.create_connection(("127.0.0.1", service.port), 5))
        for client in inside:
            client.ok("ping")
        require(service.descriptors() >= 100 - 2, "only %d descriptors", service.descriptors())
        used = cpu_seconds(service.pid)
        begin = time.monotonic()
        while time.monotonic() - begin < 2:
            sent = time.monotonic()
            inside[0].ok("ping")
            require(time.monotonic() - sent < 0.5, "a ping took %.2f s", time.monotonic() - sent)
            time.sleep(0.02)
        used = cpu_seconds(service.pid) - used
        require(used < 0.5, "%.2f s of CPU in 2 s: it spins", used)
        inside[1].subscribe("in2", "in3")
        inside[2].ok("publish", {"type": 1, "value": 10001, "onlineOnly": False})
        inside[1].event(lambda event: event["value"] == 10001)
        say("%d descriptors, 200 connections at the door, %.2f s of CPU in 2 s",
            service.descriptors(), used)
        for connection in crowd:
            connection.close()
        begin = time.monotonic()
        late = come_back(service, begin + 5)
        say("the next one was let in after %.2f s", time.monotonic() - begin)
        late.subscribe("in2")
        time.sleep(0.5)
        require(service.descriptors() <= before + 2, "%d descriptors, %d before",
                service.descriptors(), before)
        lines = service.log_text().count("cannot accept")
        require(0 < lines < 20, "%d lines in the log", lines)
        service.kill()
        service.start()
        require(set(service.login("in1").subscriptions()) == {"in2", "in3"}, "not stored")


@case("descriptors are few from the start: it starts and serves, or says why not", quick=True)
def few_descriptors():
    said = []
    # With fewer than 13, libuv and libdispatch abort before anything can be said.
    for count in (13, 14, 16, 20, 24, 32):
        with Service(prefix=["prlimit", "--nofile=%d:%d" % (count, count)], start=False) as service:
            service.launch()
            line = service.process.stdout.readline()
            if line:
                service.port = int(line.strip().rsplit(b":", 1)[1])
                said.append("%d: serves" % count)
                if count >= 24:
                    service.login("a").subscribe("b")
                service.stop()
                continue
            code = service.wait()
            text = service.log_text().strip()
            require(code > 0, "%d descriptors: ended with %s: %s", count, code, text[-300:])
            require(text.count("\n") == 0, "%d descriptors: %r", count, text[:300])
            said.append("%d: refuses" % count)
    say("%s", ", ".join(said))
