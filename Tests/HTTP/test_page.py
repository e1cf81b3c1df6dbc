"""docs/HTTP.md: its examples are run as they stand there."""

import os
import re
import subprocess
import unittest

from api import KEY, Service, here

PAGE = os.path.join(here, "..", "..", "docs", "HTTP.md")


def examples():
    """Pairs of a command and what it prints."""
    found = []
    with open(PAGE) as file:
        for block in re.findall(r"```console\n(.*?)```", file.read(), re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, output = part.split("\n", 1)
                found.append((command, output.strip()))
    return found


def blurred(text):
    """Without what differs each time: times, and headers that the page does not show."""
    lines = text.replace("\r", "").split("\n")
    if lines[0].startswith("HTTP/"):
        end = lines.index("")
        lines = [lines[0]] + [li for li in lines[1:end] if li.startswith("Content-Type")] + \
            lines[end:]
    text = re.sub(r'"(time|expires|created)":\d{13}', r'"\1":T', "\n".join(lines))
    return re.sub(r'"id":"\w{13}","seq":\d+', '"id":I,"seq":N', text).strip()


class Page(unittest.TestCase):
    maxDiff = None

    def test_its_examples_print_what_it_says(self):
        service = Service()
        try:
            names = {**os.environ, "API": "http://127.0.0.1:%d" % service.http_port,
                     "KEY": "Authorization: Bearer " + KEY}
            count = 0
            for command, output in examples():
                self.assertTrue(command.startswith("curl "), command)
                done = subprocess.run(["bash", "-c", command.replace("curl", "curl -s", 1)],
                                      env=names, capture_output=True, text=True, timeout=20)
                self.assertEqual(blurred(done.stdout), blurred(output), command)
                count += 1
            self.assertGreater(count, 5)
        finally:
            service.close()
