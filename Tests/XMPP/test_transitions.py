"""The 36 transitions of two accounts, as RFC 6121 has them, also when the service is killed."""

import os
import random
import unittest

import walk
from service import Served, XMPPService
from stream import Stream

HERE = os.path.dirname(os.path.abspath(__file__))

# Appendix A of RFC 6121: first the sender's new state for each of walk.WORDS, then the receiver's.
# r: routed, d: delivered, -: neither, and nothing changes. Both accounts are on one server, which
# drops a word that changes nothing where RFC 6121 lets it be routed.
APPENDIX_A = """
N    rNo   -     -     -     dNi   -     -     -
No   -     rN    -     -     dNoi  -     dT    dN
Ni   rNoi  -     rF    rN    -     dN    -     -
Noi  -     rNi   rFo   rNo   -     dNo   dTi   dNi
T    -     rN    -     -     dTi   -     -     dN
Ti   -     rNi   rB    rT    -     dT    -     dNi
F    rFo   -     -     rN    -     dN    -     -
Fo   -     rF    -     rNo   -     dNo   dB    dF
B    -     rF    -     rT    -     dT    -     dF
"""


def state(own, other):
    """The state of an account about another, by the items that both have."""
    name = {"none": "N", "to": "T", "from": "F", "both": "B", "-": "N"}[own.split("+")[0]]
    pending = ("o" if "+ask" in own else "") + ("i" if "+ask" in other else "")
    return name + pending


class Transitions(Served, unittest.TestCase):
    weight = 5
    is_plain = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = [walk.walk(cls.service.xmpp_port, state, word)
                     for state in walk.PATHS for word in walk.WORDS]

    def test_each_is_as_written_down(self):
        with open(os.path.join(HERE, "transitions.txt")) as file:
            written = file.read().splitlines()[1:]
        self.assertEqual([str(transition) for transition in self.found], written)

    def test_both_sides_are_as_in_appendix_a(self):
        table = {line.split()[0]: line.split()[1:] for line in APPENDIX_A.split("\n") if line}
        cells = 0
        for transition in self.found:
            word = walk.WORDS.index(transition.word)
            before = transition.state
            seen_by_ben = before.translate(str.maketrans("TFoi", "FTio")).replace("io", "oi")
            after = [state(*transition.items), state(*reversed(transition.items))]
            told = transition.word in transition.told[1]
            for mark, old, new, cell in (
                    ("r", before, after[0], table[before][word]),
                    ("d", seen_by_ben, after[1], table[seen_by_ben][4 + word])):
                cells += 1
                with self.subTest(state=old, word=transition.word, side=mark):
                    self.assertEqual(cell, mark + new if told else "-")
                    self.assertTrue(told or new == old)
        self.assertEqual(cells, 72)


class Deaths(unittest.TestCase):
    """kill -9 while words are under way."""

    weight = 4

    def test_both_rosters_agree_after_a_crash(self):
        seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
        print("crashes of XMPP sessions: SEED=%d" % seed)
        chance = random.Random(seed)
        service = XMPPService(plain=True)
        self.addCleanup(service.close)
        for number in range(3):
            self.crash(service, number, chance)

    def crash(self, service, number, chance):
        settled = {}
        for name in walk.PATHS:
            people = self.pair(service, "settled%d-%s" % (number, name.lower()))
            settled[people] = walk.reach(name, *people)
        moving = [self.pair(service, "moving%d-%d" % (number, each)) for each in range(8)]
        for _ in range(15):
            for anna, ben in moving:
                one, other = chance.sample([anna, ben], 2)
                one.say(chance.choice(walk.WORDS), other)
        # The other pairs' words are carried out meanwhile.
        for _ in range(chance.randrange(8)):
            moving[0][0].say("subscribe", moving[0][1])
            moving[0][0].roster()
        service.kill()
        service.start()
        for anna, ben in [*settled, *moving]:
            items = settled.get((anna, ben))
            with self.subTest(pair=anna.name):
                self.check(*self.pair(service, anna.name[:-len("-anna")]), items)

    def check(self, anna, ben, expected):
        items = walk.settled(anna, ben)
        if expected:
            self.assertEqual(items, expected)
        sees = [item.split("+")[0] for item in items]
        self.assertEqual(sees[0] in ("to", "both"), sees[1] in ("from", "both"), items)
        self.assertEqual(sees[1] in ("to", "both"), sees[0] in ("from", "both"), items)
        # A request is delivered at every login until it is answered.
        self.assertEqual("+ask" in items[0], "subscribe" in ben.told, (items, ben.told))
        self.assertEqual("+ask" in items[1], "subscribe" in anna.told, (items, anna.told))

    def test_a_request_is_kept_with_all_it_says(self):
        service = XMPPService(plain=True)
        self.addCleanup(service.close)
        content = ("<status>Hi</status><nick xmlns='http://jabber.org/protocol/nick'>Al</nick>"
                   "<x xmlns='u' a='1'/>")
        anna = Stream(service.xmpp_port)
        self.addCleanup(anna.close)
        anna.login("anna", "d1")
        anna.send("<presence to='ben@localhost' type='subscribe'>%s</presence>" % content
                  + "<iq type='get' id='r'><query xmlns='jabber:iq:roster'/></iq>")
        anna.until("ask='subscribe'/></query></iq>")
        for _ in range(2):
            ben = Stream(service.xmpp_port)
            self.addCleanup(ben.close)
            ben.login("ben", "d1")
            ben.send("<presence/>")
            ben.until("<presence from='anna@localhost' to='ben@localhost' type='subscribe'>%s"
                      "</presence>" % content)
            service.kill()
            service.start()

    def pair(self, service, stem):
        people = walk.pair(service.xmpp_port, stem)
        for person in people:
            self.addCleanup(person.close)
        return people


if __name__ == "__main__":
    unittest.main()
