"""Every stanza of fixed flows is what Prosody sent, but for the differences that are intended."""

import re
import unittest

import golden


class Flows(unittest.TestCase):
    weight = 2

    def test_every_stanza_is_as_prosody_sent_it(self):
        wrong = golden.differences()
        self.assertEqual(wrong, [], "\n".join(["", *wrong]))


class Comparison(unittest.TestCase):
    """Each change of what was received is found: one stanza changed, lost, doubled, exchanged."""

    def changes(self, lines):
        for number, line in enumerate(lines):
            before, behind = lines[:number], lines[number + 1:]
            yield before + behind
            yield before + [line, line] + behind
            yield before + [re.sub("localhost|closed", "elsewhere", line) + " "] + behind
            if behind and behind[0] != line:
                yield before + [behind[0], line] + behind[1:]

    def test_every_change_is_found(self):
        found = 0
        for flow in golden.names():
            for step, lines in golden.stored(flow):
                for changed in self.changes(lines):
                    found += 1
                    with self.subTest(flow=flow, step=step, changed=changed):
                        self.assertTrue(list(golden.compare([(step, lines)], [(step, changed)])))
        self.assertGreater(found, 400)

    def test_every_step_is_compared(self):
        step = ("(anna/desk logs in)", [])
        with self.assertRaises(ValueError):
            list(golden.compare([step, step], [step]))


if __name__ == "__main__":
    unittest.main()
