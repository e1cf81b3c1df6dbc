"""The client with which the other tests speak."""

import socket
import unittest

from stream import Stream


class Streams(unittest.TestCase):
    def test_a_character_in_pieces(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            stream = Stream(listener.getsockname()[1])
            self.addCleanup(stream.close)
            service, _ = listener.accept()
            with service:
                first, *rest = "长".encode()
                service.sendall(bytes([first]))
                self.assertTrue(stream.receive())
                service.sendall(bytes(rest) + b"</a>")
                self.assertEqual(stream.until("</a>"), "长</a>")


if __name__ == "__main__":
    unittest.main()
