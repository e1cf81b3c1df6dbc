"""The commands of the READMEs, pasted into a shell as Tests/Pages/run does it."""

import importlib.machinery
import importlib.util
import os
import shlex
import signal
import subprocess
import unittest

from support import ROOT, WAIT, node
from porchlight import BINARY, Case


def loaded(path):
    """A module from a file without an ending."""
    loader = importlib.machinery.SourceFileLoader("pages", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pages", loader))
    loader.exec_module(module)
    return module


pages = loaded(os.path.join(ROOT, "Tests", "Pages", "run"))


class Readmes(Case):
    flags = None

    def paste(self, page, path):
        """Runs the blocks of a page, all in one shell, in the root of the repository."""
        folder = self.new_folder()
        os.symlink(os.path.abspath(BINARY), os.path.join(folder, "porchlight"))
        blocks = [block for block in pages.blocks(page) if block.language == "sh"]
        self.assertGreater(len(blocks), 3)
        script = ["set -eE", "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT"]
        for number, text in enumerate(pages.with_free_ports([block.text for block in blocks])):
            file = os.path.join(folder, "block-%d" % number)
            with open(file, "w") as block:
                block.write(text)
            script.append(". %s > %s.out 2>> %s < /dev/null" % (
                shlex.quote(file), shlex.quote(file), shlex.quote(folder + "/errors")))
        names = {**os.environ, "TMPDIR": folder, "HOME": folder,
                 "PATH": os.pathsep.join([folder, *path, os.environ["PATH"]])}
        shell = subprocess.Popen(["bash", "-c", "\n".join(script)], cwd=ROOT, env=names,
                                 start_new_session=True)
        try:
            code = shell.wait(2 * WAIT)
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        with open(folder + "/errors") as file:
            self.assertEqual(code, 0, "%s fails: %s" % (page, file.read()[-3000:]))
        for number, block in enumerate(blocks):
            if block.output:
                with open("%s/block-%d.out" % (folder, number)) as file:
                    self.assertEqual(pages.blurred(file.read()), pages.blurred(block.output.text),
                                     str(block))

    def test_python(self):
        self.paste("examples/python/README.md", [])

    @unittest.skipUnless(node(), "it needs Node 20 or later")
    def test_node(self):
        self.paste("examples/node/README.md", [os.path.dirname(node())])
