"""Benchmarks/peers/run --messages: messages for accounts that are away, over XMPP."""

import os
import statistics

import clocks
from measure import PATIENCE_SECONDS, cores, end, running, start
from servers import Failure, OursOverXMPP, Prosody

# What a cycle consists of, in this order.
PARTS = ("stored", "delivered")


class OursWithMessages(OursOverXMPP):
    """Without relationships: strangers may fill half of a box, which is 50 messages."""

    def provision(self, folder, workload):
        """There are no rosters, and accounts come to be by logging in."""


class ProsodyWithMessages(Prosody):
    config = "prosody_messages.cfg.lua"

    def provision(self, folder, workload):
        """Accounts without contacts."""
        accounts = os.path.join(folder, "data", "localhost", "accounts")
        os.makedirs(accounts)
        for account in range(workload["accounts"]):
            name = f"u{account:07}"
            with open(os.path.join(accounts, f"{name}.dat"), "w") as file:
                file.write(f'return {{ ["password"] = "{name}"; }};\n')


ALL = [OursWithMessages, ProsodyWithMessages]
EACH_MAX = 50


def workload_of(given):
    quick = given.quick
    workload = {
        "accounts": given.accounts or (50 if quick else 500),
        "each": given.each or 20,
        # The first one is not measured.
        "cycles": 2 if quick else 4,
        "payload": given.payload or 200,
        "patience": 30,
        "rounds": given.rounds or (1 if quick else 3),
    }
    if not 1 <= workload["each"] <= EACH_MAX:
        raise Failure(f"--each {workload['each']}: an account that is away holds 1 to {EACH_MAX} "
                      "messages of another.")
    if workload["accounts"] < 2:
        raise Failure(f"--accounts {workload['accounts']}: messages need two accounts or more.")
    return workload


def measure(server, workload):
    """Runs the workload against `server`, and gives the microseconds of each part of a message."""
    names = ("accounts", "each", "cycles", "payload", "patience")
    with running(server, workload) as (process, port):
        load = start(
            [server.tools["load"], "messages", server.protocol, str(port),
             *(str(workload[name]) for name in names)], cores()[1])
        try:
            samples = follow(load, process)
        except Failure as failure:
            raise Failure(f"{server.title}: {failure}") from None
        finally:
            end(load)
    return figures(samples, workload)


def follow(load, server):
    """The server's CPU time where the load says that a part is over: pairs of both."""
    samples = []
    for line in load.stdout:
        samples.append((line.decode().split()[0], clocks.cpu_seconds(server.pid)))
        load.stdin.write(b"\n")
        load.stdin.flush()
    if load.wait(timeout=PATIENCE_SECONDS) != 0:
        raise Failure("the load program has found a fault; what it said is above.")
    return samples


def figures(samples, workload):
    """Microseconds of CPU of each part, for a message, over all cycles but the first."""
    spent = {part: [] for part in PARTS}
    for (_, before), (name, after) in zip(samples, samples[1:]):
        if name in spent:
            spent[name].append(after - before)
    if any(len(found) != workload["cycles"] for found in spent.values()):
        raise Failure("the load program has not run all cycles.")
    count = workload["accounts"] * workload["each"] * (workload["cycles"] - 1)
    result = {part: sum(found[1:]) * 1e6 / count for part, found in spent.items()}
    result["message"] = sum(result.values())
    return result


def median(rounds, name):
    return statistics.median(figures[name] for figures in rounds)


def markdown(results):
    """A table; ratios are medians of those of each round."""
    ours = results.get(OursWithMessages.title)
    rows = [["", "stored", "delivered and taken", "a message", "÷ ours"],
            ["---", "---:", "---:", "---:", "---:"]]
    for title, rounds in results.items():
        ratio = "–"
        if ours:
            ratio = "%.2f" % statistics.median(
                theirs["message"] / own["message"] for theirs, own in zip(rounds, ours))
        rows.append([title, *(f"{median(rounds, name):.1f} µs" for name in (*PARTS, "message")),
                     ratio])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
