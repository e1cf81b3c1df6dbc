"""Random messages, takes, ends and returns of six accounts, with a naive model beside them."""

import os
import random
import signal
import time
import unittest

from conversation import WAIT
from letters import Account, Letter, NativeSession, XMPPSession
from service import XMPPService

SEED = int(os.environ.get("MESSAGES_SEED", "0")) or random.randrange(1, 1 << 30)
ACCOUNTS = 6
STEPS = 400
DEVICES = ("phone", "tablet")
# The numbers of steps before which the service is stopped and started.
STOPS = (150, 300)
ROOM = {"PORCHLIGHT_MESSAGES_PER_ACCOUNT_MAX": "1000",
        "PORCHLIGHT_MESSAGES_PER_SENDER_MAX": "100000"}


class Series:
    """The service, the model, and the steps that are done to both."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.service = XMPPService("--rate-limits", "off", plain=True, environment=ROOM)
        self.accounts = [Account("a%d" % number) for number in range(ACCOUNTS)]
        self.written = self.taken = 0
        self.done = dict.fromkeys(self.steps(), 0)
        # Connections that were left open, with nothing behind them.
        self.silent = []
        self.start()

    def start(self):
        self.server = self.service.server()
        self.taken_before = self.taken

    def close(self):
        for session in [*self.sessions(), *self.silent]:
            session.close()
        self.service.close()

    def steps(self):
        return {self.send: 34, self.app_server_sends: 4, self.answer: 26, self.ignore: 8,
                self.turn: 6, self.connect: 18, self.leave: 4, self.kill: 4,
                self.fall_silent: 4, self.answer_and_die: 5}

    def sessions(self):
        return [session for account in self.accounts for session in account.sessions.values()]

    # Settling

    def counts(self):
        stats = self.server.ok("stats")
        return stats["messagesWaiting"], stats["messagesTaken"] + self.taken_before

    def settle(self):
        """Waits until the service has done everything, and compares what each session was sent."""
        due = sum(len(account.waiting) for account in self.accounts), self.taken
        end = time.monotonic() + WAIT
        while (found := self.counts()) != due:
            assert time.monotonic() < end, "%s are waiting and taken, not %s" % (found, due)
        for session in self.sessions():
            session.read_all(session.due())
        for account in self.accounts:
            account.writer = None

    # Steps

    def step(self):
        steps = self.steps()
        step, = self.rng.choices(list(steps), list(steps.values()))
        # One that has nothing to be done with is not counted.
        self.done[step] += step() is not False

    def any_session(self, **having):
        found = [session for session in self.sessions() if all(
            getattr(session, name) == value for name, value in having.items())]
        return self.rng.choice(found) if found else None

    def letters(self, sender):
        """Some for random accounts, of which the model has them from now on."""
        found = []
        for _ in range(self.rng.randrange(1, 5)):
            account = self.rng.choice(self.accounts)
            if account.writer not in (None, sender):
                # Which of the two senders was first would not be known.
                break
            account.writer = sender
            size = 20_000 if self.rng.random() < 0.1 else self.rng.randrange(1, 300)
            letter = Letter(self.written, sender, account.name,
                            "%d:%s" % (self.written, "今天x"[:self.rng.randrange(4)]
                                       + "y" * size))
            self.written += 1
            account.letters.append(letter)
            found.append(letter)
        return found

    def send(self):
        session = self.any_session()
        if not session:
            return False
        if any(account.writer not in (None, session.jid) for account in self.accounts) \
                and self.rng.random() < 0.5:
            self.settle()
        letters = self.letters(session.jid)
        session.write(letters)
        return bool(letters)

    def app_server_sends(self):
        self.settle()
        for each in self.letters("localhost"):
            self.server.ok("send", {"accounts": [each.to], "body": each.text})

    def answer(self):
        session = self.any_session()
        if not session:
            return False
        session.read_all()
        new = session.answer(self.rng)
        self.taken += len(new)
        return bool(new)

    def ignore(self):
        session = self.any_session()
        if not session:
            return False
        session.read_all()

    def turn(self):
        """Goes away, or comes back."""
        session = self.any_session()
        if not session:
            return False
        self.settle()
        session.show(not session.is_away)

    def connect(self):
        """A client comes, perhaps to take the place of another of its device."""
        self.settle()
        account = self.rng.choice(self.accounts)
        device = self.rng.choice(DEVICES)
        kind = self.rng.choice((XMPPSession, XMPPSession, NativeSession))
        if device in account.sessions and account.sessions[device].is_away:
            account.lost_away.add(device)
        session = kind(self.service, account, device)
        if old := account.sessions.pop(device, None):
            old.close()
        account.lost_away.discard(device)
        account.sessions[device] = session

    def end(self, session, has_left=False):
        del session.account.sessions[session.device]
        if session.is_away and not has_left:
            session.account.lost_away.add(session.device)

    def leave(self):
        session = self.any_session()
        if not session:
            return False
        self.settle()
        session.leave()
        self.end(session, has_left=True)

    def kill(self):
        session = self.any_session()
        if not session:
            return False
        self.settle()
        session.kill()
        self.end(session)

    def fall_silent(self):
        session = self.any_session()
        if not session:
            return False
        self.settle()
        self.end(session)
        self.silent.append(session)

    def answer_and_die(self):
        """What it has taken is taken or not, but all of it or nothing."""
        self.settle()
        session = self.rng.choice([each for each in self.sessions()
                                   if isinstance(each, XMPPSession) and each.phone.pings] or [None])
        if not session:
            return False
        new = session.answer(self.rng)
        session.kill()
        self.end(session)
        end = time.monotonic() + WAIT
        while any(each["device"] == session.device and each["connection"] == "connected"
                  for each in self.server.ok(
                      "sessions", {"account": session.account.name})["sessions"]):
            assert time.monotonic() < end, "%s does not end" % session.jid
        _, taken = self.counts()
        assert taken - self.taken in (0, len(new)), "%d of %s are taken" % (
            taken - self.taken, new)
        if taken == self.taken:
            for letter in new:
                letter.give_back()
        self.taken = taken

    def stop(self):
        """The service is stopped and started: nothing is lost, and nothing comes again."""
        self.settle()
        self.service.terminate()
        for session in self.sessions():
            session.close()
            self.end(session)
        self.service.start()
        self.start()

    def finish(self):
        """All leave; who comes then is sent all that waits, and takes it."""
        self.settle()
        for session in self.sessions():
            session.leave()
            self.end(session, has_left=True)
        for account in self.accounts:
            session = XMPPSession(self.service, account, "last")
            account.sessions["last"] = session
            while account.waiting:
                session.read_all(session.due())
                session.phone.read_until(lambda: session.phone.pings)
                self.taken += len(session.answer(self.rng))
        self.settle()
        assert self.counts() == (0, self.written), self.counts()


class RandomMessages(unittest.TestCase):
    weight = 9

    def test_a_series(self):
        print("random messages: MESSAGES_SEED=%d" % SEED, flush=True)
        series = Series(SEED)
        self.addCleanup(series.close)
        for number in range(STEPS):
            try:
                if number in STOPS:
                    series.stop()
                series.step()
            except Exception as error:
                error.add_note("at step %d of MESSAGES_SEED=%d" % (number, SEED))
                raise
        series.finish()
        # A series that did next to nothing must not pass.
        self.assertGreater(series.written, STEPS / 5)
        done = series.done
        ends = done[series.kill] + done[series.fall_silent] + done[series.answer_and_die]
        self.assertGreater(min(done[series.answer], done[series.connect], ends), 5, done)


if __name__ == "__main__":
    unittest.main()
