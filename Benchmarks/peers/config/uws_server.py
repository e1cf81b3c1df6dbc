"""A server of topics over WebSocket, made of uWebSockets (socketify, PyPI): uws_server.py PORT, or
uws_server.py PORT CERTIFICATE KEY for TLS."""

import sys

from socketify import App, AppOptions, CompressOptions, OpCode


def upgraded(response, request, context):
    response.upgrade(
        request.get_header("sec-websocket-key"), request.get_header("sec-websocket-protocol"),
        request.get_header("sec-websocket-extensions"), context, request.get_url()[1:])


def received(socket, message, opcode):
    if message[0] == "p":
        socket.publish(socket.get_user_data(), message[1:], OpCode.TEXT)
        socket.send("p", OpCode.TEXT)
    else:
        for topic in message[1:].split(" "):
            socket.subscribe(topic)
        socket.send("s", OpCode.TEXT)


files = sys.argv[2:]
app = App(AppOptions(cert_file_name=files[0], key_file_name=files[1])) if files else App()
app.ws("/*", {
    "compression": CompressOptions.DISABLED, "max_payload_length": 65536, "idle_timeout": 960,
    "max_backpressure": 64 * 1024 * 1024, "upgrade": upgraded, "message": received})
app.listen(int(sys.argv[1]), lambda config: None)
app.run()
