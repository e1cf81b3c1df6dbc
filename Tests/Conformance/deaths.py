"""A thread that ends by an exception fails the test that started it.

Python prints a traceback for such a thread and goes on: what the thread was to do does not happen,
and the test passes with less than it says. Importing this module notes every such thread; the
harnesses of Tests/Conformance, Tests/HTTP, Tests/Webhooks and Tests/Faults ask for them.
"""

import threading
import traceback

_lock = threading.Lock()
_running = threading.local()
_noted = []
_start = threading.Thread.start


def begin(test):
    """From now on this thread, and those that it starts, work for `test`."""
    _running.test = test


def of(test):
    """Takes the tracebacks of the threads of `test`."""
    return _take(lambda owner: owner is test)


def rest():
    """Takes the tracebacks that no test has taken."""
    return _take(lambda owner: True)


def _take(is_meant):
    with _lock:
        taken = [text for owner, text in _noted if is_meant(owner)]
        _noted[:] = [(owner, text) for owner, text in _noted if not is_meant(owner)]
    return taken


def _start_for_the_test(thread):
    thread.of_test = getattr(_running, "test", None) or getattr(
        threading.current_thread(), "of_test", None)
    _start(thread)


def _note(died):
    text = "".join(traceback.format_exception(died.exc_type, died.exc_value, died.exc_traceback))
    name = died.thread.name if died.thread else "of the interpreter"
    with _lock:
        _noted.append((getattr(died.thread, "of_test", None), "thread %s died:\n%s" % (name, text)))


threading.Thread.start = _start_for_the_test
threading.excepthook = _note
