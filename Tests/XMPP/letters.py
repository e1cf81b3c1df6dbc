"""A naive model of messages: for each account a list of what waits, for each session a list of what
it was sent. What a session is sent is compared with it."""

import conversation
from conversation import AWAY, ONLINE, WAIT, Message, Phone

WINDOW = 65_536
# What a message counts for at least, and more than its elements beside the body have here.
LEAST = 512


class Letter:
    """A message to one account. `text` is its body, and no other has it."""

    def __init__(self, number, sender, to, text):
        self.number, self.sender, self.to, self.text = number, sender, to, text
        self.id = None
        self.is_taken = False
        # Sessions that were there when another took it, and had not been sent it.
        self.owed = set()

    def is_for(self, session):
        """Whether a session is still to be sent it."""
        return not self.is_taken or session in self.owed

    def take(self, session):
        """A session has taken it as the first. Others that are there are sent it all the same."""
        self.is_taken = True
        others = session.account.sessions.values()
        self.owed = {each for each in others if each.may_get(self)} - {session}

    def give_back(self):
        """It was not taken after all."""
        self.is_taken = False
        self.owed.clear()

    def counts(self):
        return len(self.text) + LEAST

    def __repr__(self):
        return "letter %d from %s to %s%s" % (
            self.number, self.sender, self.to, ", taken" if self.is_taken else "")


class Account:
    def __init__(self, name):
        self.name = name
        # All that was ever sent to it, in order.
        self.letters = []
        # Live ones, by device.
        self.sessions = {}
        # Devices that were lost while they were away: their availability is kept for a while.
        self.lost_away = set()
        # The account or service that sent it something whose place in the order is not known yet.
        self.writer = None

    @property
    def waiting(self):
        return [letter for letter in self.letters if not letter.is_taken]


class Session:
    """What a session was sent, and has not taken itself."""

    def __init__(self, account, device):
        self.account, self.device = account, device
        self.given = []
        self.is_away = False
        # Where it is in the letters of the account.
        self.place = -1

    @property
    def jid(self):
        return "%s@localhost/%s" % (self.account.name, self.device)

    def may_get(self, letter):
        """Whether it is sent what it was not sent so far, and not this letter so far."""
        return not self.is_away and letter in self.account.letters[self.place + 1:]

    def note(self, text, sender, id):
        """It was sent a message: the next one of the account that is for it."""
        letters = self.account.letters
        number = int(text.split(":", 1)[0])
        place = next((at for at, each in enumerate(letters) if each.number == number), None)
        assert place is not None, "%s is sent letter %d of another" % (self.jid, number)
        letter = letters[place]
        assert not self.is_away, "%s is away and is sent %s" % (self.jid, letter)
        assert place > self.place, "%s is sent %s again, or late" % (self.jid, letter)
        left_out = [each for each in letters[self.place + 1:place] if each.is_for(self)]
        assert not left_out, "%s is sent %s before %s" % (self.jid, letter, left_out)
        assert letter.is_for(self), "%s is sent %s" % (self.jid, letter)
        assert text == letter.text, "%s is sent another text of %s" % (self.jid, letter)
        assert sender == letter.sender, "%s is sent %s from %s" % (self.jid, letter, sender)
        assert letter.id in (None, id), "%s had the id %s, not %s" % (letter, letter.id, id)
        known = [each.id for each in letters[:place] if each.id]
        assert not known or known[-1] < id, "%s has the id %s after %s" % (letter, id, known[-1])
        letter.id = id
        self.place = place
        self.given.append(letter)
        held = [each for each in self.given if not each.is_taken]
        # One that another session took a moment ago may still count, so only less can be told.
        assert len(held) < 2 or sum(len(each.text) for each in held) <= WINDOW, \
            "%s holds %s" % (self.jid, held)

    def due(self):
        """How many more letters it must be sent: those that have room in its window for sure."""
        if self.is_away:
            return 0
        room = WINDOW - sum(each.counts() for each in self.given)
        count = 0
        for letter in self.account.letters[self.place + 1:]:
            if not letter.is_for(self):
                continue
            room -= letter.counts()
            if room < 0 and (self.given or count):
                break
            count += 1
        return count

    def take(self, count):
        """It has taken the first of what it was sent. Returns the letters that none had before."""
        taken, self.given = self.given[:count], self.given[count:]
        new = [letter for letter in taken if not letter.is_taken]
        for letter in new:
            letter.take(self)
        return new


class XMPPSession(Session):
    def __init__(self, service, account, device):
        super().__init__(account, device)
        self.phone = Phone(service, account.name, device)
        # Until the service has its presence, it is sent nothing that another takes.
        self.read_all()

    def read_all(self, count=0):
        """Reads what it was sent until now, and at least `count` letters more."""
        self.phone.settle()
        self.phone.read_until(lambda: len(self.phone.messages) >= len(self.given) + count)
        for message in self.phone.messages[len(self.given):]:
            assert message.error is None, "%s: %s" % (self.jid, message.children)
            self.note(message.body.decode(), message.sender, message.stanza_ids[0])

    def show(self, is_away):
        self.phone.send(AWAY if is_away else ONLINE)
        # What came before the service had heard it may have come, or comes behind it.
        if not is_away:
            self.is_away = False
        self.read_all()
        self.is_away = is_away

    def write(self, letters):
        self.phone.send(*(
            conversation.stanza(letter.to + "@localhost", letter.text, id="n%d" % letter.number)
            for letter in letters))

    def answer(self, rng):
        """Answers the ping behind what it was sent, if that has come. Returns what is taken."""
        if not self.phone.pings:
            return []
        count = len(self.phone.share())
        self.phone.answer(by_error=rng.random() < 0.5)
        return self.take(count)

    def leave(self):
        self.phone.send("</stream:stream>")
        while self.phone.stream.receive():
            pass
        self.phone.close()

    def kill(self):
        self.phone.kill()

    def close(self):
        self.phone.close()


class NativeSession(Session):
    def __init__(self, service, account, device):
        super().__init__(account, device)
        self.client = service.login(account.name, device, messages=True)
        expected = {len(account.waiting)} | ({0} if device in account.lost_away else set())
        assert self.client.welcome["waiting"] in expected, \
            "%s: %s waiting, not %s" % (self.jid, self.client.welcome["waiting"], expected)
        self.show(is_away=False)

    def read_all(self, count=0):
        self.client.ok("contacts")
        seen = len(self.given)
        while True:
            notes, self.client.notes = self.client.notes, []
            for note in notes:
                # Of the account itself there are events, too.
                for each in note["params"].get("messages", []):
                    sender = "%s@localhost/%s" % (each["from"], each["fromDevice"]) \
                        if "from" in each else "localhost"
                    self.note(each["body"], sender, each["id"])
            if len(self.given) - seen >= count:
                return
            self.client.notes = [self.client.note("messages")]

    def show(self, is_away):
        self.client.ok("setAvailability", {"priority": -1 if is_away else 0})
        self.is_away = is_away

    def write(self, letters):
        for letter in letters:
            self.client.ok("send", {"accounts": [letter.to], "body": letter.text})

    def answer(self, rng):
        if not self.given:
            return []
        count = rng.randrange(len(self.given)) + 1
        self.client.ok("take", {"id": self.given[count - 1].id})
        return self.take(count)

    def leave(self):
        self.client.ok("logout")
        self.client.eof()
        self.close()

    def kill(self):
        self.client.reset()

    def close(self):
        self.client.close()
