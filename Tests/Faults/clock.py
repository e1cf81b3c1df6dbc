"""The wall clock jumps, while running and between runs. Only the monotonic one may count."""

import glob
import os
import time

from support import Service, Skip, case, require, say

DAY = 86400


class Clock:
    """A wall clock of the service's own, ahead of the machine's by what is set."""

    def __init__(self, service):
        found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not found:
            raise Skip("libfaketime is not installed")
        self.path = os.path.join(service.temporary, "clock")
        self.ahead(0)
        service.env = {
            "LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": self.path,
            "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
        # The library changes the environment when it begins, and Swift then does not find its
        # arguments. In a process that was started by one with the library it is done already.
        service.prefix = ["env"]

    def ahead(self, seconds):
        with open(self.path + ".new", "w") as file:
            file.write("%+d\n" % seconds)
        os.rename(self.path + ".new", self.path)


def skew_seconds(client):
    return client.ok("ping")["time"] / 1000 - time.time()


def jump(client, clock, seconds):
    clock.ahead(seconds)
    shown = skew_seconds(client)
    require(abs(shown - seconds) < 2, "the clock is ahead by %.1f, not %d", shown, seconds)


@case("the wall clock jumps while the service runs: nothing expires, no client is closed", quick=True)
def clock_jumps():
    with Service("--rate-limits", "off", start=False) as service:
        clock = Clock(service)
        service.start()
        watcher, publisher = service.login("w"), service.login("p")
        watcher.subscribe("p", "q", expiry=3600)
        publisher.ok("publish", {"type": 1, "value": 10001, "expiry": 3600, "ext": "here"})
        seq = watcher.event(lambda event: event["value"] == 10001)["seq"]
        for seconds in (3600, -7200, 3650 * DAY, -50 * 365 * DAY, 0, 40 * 365 * DAY, 1):
            jump(watcher, clock, seconds)
            time.sleep(0.15)
            require(set(watcher.subscriptions()) == {"p", "q"}, "expired at %+d s", seconds)
            require(not watcher.drain(0.1), "events at %+d s", seconds)
            now = watcher.ok("ping")["time"]
            for publisher_name, expires in watcher.subscriptions().items():
                left = (expires - now) / 1000
                require(3000 < left <= 3601, "%+d s: %s has %.1f s left", seconds, publisher_name,
                        left)
            publisher.ok("publish", {"type": 1, "value": 10002, "expiry": 3600})
            event = watcher.event(lambda event: event["value"] == 10002)
            require(event["seq"] > seq, "seq fell at %+d s", seconds)
            seq = event["seq"]
        say("hours, years, and before 1970")


@case("subscriptions of 60 s expire after 60 s, whatever the wall clock does")
def clock_no_immortals():
    with Service("--rate-limits", "off", "--heartbeat", "300", start=False) as service:
        clock = Clock(service)
        service.start()
        watcher, publisher = service.login("w"), service.login("p")
        begin = time.monotonic()
        watcher.subscribe("p", expiry=60)
        publisher.ok("publish", {"type": 1, "value": 10001, "expiry": 60})
        watcher.drain(0.2)
        jump(watcher, clock, 3600)
        jump(watcher, clock, -50 * 365 * DAY)
        watcher.subscribe("q", expiry=60)
        while watcher.take(70) is None or "p" not in watcher.expired:
            pass
        took = time.monotonic() - begin
        require(58 < took < 62, "the subscription ended after %.1f s", took)
        time.sleep(1)
        require(watcher.subscriptions() == {}, "still there: %s", watcher.subscriptions())
        state = service.server().ok("query", {"type": 1, "accounts": ["p"]})["states"][0]
        require("status" not in state, "the status is still there: %s", state)
        say("it ended after %.1f s", took)


@case("the wall clock is wrong at startup: no expiry is later than requested",
      quick=True)
def clock_wrong_at_start():
    with Service("--rate-limits", "off", start=False) as service:
        clock = Clock(service)
        service.start()
        watcher = service.login("w")
        watcher.subscribe("p", expiry=3600)
        watcher.ok("publish", {"type": 100, "value": 10001, "expiry": 3600, "onlineOnly": False})
        for seconds in (-7200, -50 * 365 * DAY, 0):
            service.kill()
            clock.ahead(seconds)
            service.start()
            watcher = service.login("w")
            now = watcher.ok("ping")["time"]
            left = (watcher.subscriptions().get("p", now) - now) / 1000
            state = service.server().ok("query", {"type": 100, "accounts": ["w"]})["states"][0]
            status = (state.get("status", {}).get("expires", now) - now) / 1000
            say("started %+d s off: %.0f s of the subscription are left, %.0f s of the status",
                seconds, left, status)
            # A clock that is wrong cannot be told from time that has passed, but 30 days are
            # the longest that can be requested, and 7 days for a status.
            require(0 < left <= 30 * DAY, "%+d s: %.0f s left of 3,600", seconds, left)
            require(0 < status <= 7 * DAY, "%+d s: %.0f s left of 3,600", seconds, status)
        # A clock far ahead while it was asked for, and right again after.
        clock.ahead(3650 * DAY)
        require(abs(skew_seconds(watcher) - 3650 * DAY) < 2, "the clock did not jump")
        watcher.subscribe("r", expiry=3600)
        service.kill()
        clock.ahead(0)
        service.start()
        watcher = service.login("w")
        left = (watcher.subscriptions()["r"] - watcher.ok("ping")["time"]) / 1000
        require(left <= 30 * DAY, "%.0f s left of 3,600", left)
