"""The figures of all rounds as one table."""

import os
import platform
import statistics

from servers import (
    Ejabberd, Floor, Ours, OursOverSecureWebSocket, OursOverTLS, OursOverWebSocket, OursOverXMPP,
    Prosody, UWebSockets, UWebSocketsOverTLS)

# What is compared in a line of its own: the same protocol, or the same server over TLS.
PAIRS = [
    (OursOverWebSocket, UWebSockets), (OursOverSecureWebSocket, UWebSocketsOverTLS),
    (OursOverTLS, Ours), (OursOverSecureWebSocket, OursOverWebSocket),
    (UWebSocketsOverTLS, UWebSockets), (OursOverXMPP, Ours), (Prosody, OursOverXMPP),
    (Ejabberd, OursOverXMPP),
]


def values(rounds, *path):
    found = []
    for figures in rounds:
        for name in path:
            figures = figures[name]
        found.append(figures)
    return found


def median(rounds, *path):
    return statistics.median(values(rounds, *path))


def ratios(results, title, other, mode):
    """The median of the ratios of each round to `other` in the same round."""
    pairs = zip(values(results[title], mode, "delivery_us"),
                values(results[other], mode, "delivery_us"))
    return statistics.median(mine / theirs for mine, theirs in pairs)


def columns(results, title):
    rounds = results[title]
    cells = [title]
    for mode in ("single", "saturated"):
        cells.append(f"{median(rounds, mode, 'delivery_us'):.2f} µs")
        for other in (Ours.title, Floor.title):
            cells.append(f"{ratios(results, title, other, mode):.2f}" if other in results else "–")
    if title == Floor.title:
        return cells + ["–", "–", f"{median(rounds, 'saturated', 'server_share') * 100:.0f} %"]
    return cells + [
        f"{median(rounds, 'connection_bytes') / 1000:.1f} KB",
        f"{median(rounds, 'subscription_us'):.2f} µs",
        f"{median(rounds, 'saturated', 'server_share') * 100:.0f} %",
    ]


HEAD = [
    "", "a delivery", "÷ ours", "÷ floor", "saturated", "÷ ours", "÷ floor",
    "a connection", "a subscription", "core in use",
]


def markdown(results):
    rows = [HEAD, ["---"] + ["---:"] * (len(HEAD) - 1)]
    rows += [columns(results, title) for title in results]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        if number == 1:
            cells = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def pairs(results):
    """A line for each pair that was measured."""
    for kind, other in PAIRS:
        if kind.title in results and other.title in results:
            single, saturated = (
                ratios(results, kind.title, other.title, mode) for mode in ("single", "saturated"))
            yield (f"{kind.title} ÷ {other.title}: {single:.2f} one at a time, "
                   f"{saturated:.2f} saturated")


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
    return {
        "processor": model,
        "cores": f"{os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
    }
