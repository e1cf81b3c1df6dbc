"""Draws the growth of the engine's costs as SVG: a row a sweep; times, then bytes."""

from math import log10

WIDTH, HEIGHT = 900, 720
PANEL_WIDTH, PANEL_HEIGHT = 330, 240
LEFTS, TOPS = (70, 500), (70, 410)
TIMES = [
    ("delivery_ns", "a delivery", "#0b6e4f"),
    ("subscription_ns", "a subscription", "#1f5fa8"),
    ("renewal_ns", "a renewal", "#8a63b5"),
    ("expiry_ns", "an expiry", "#c77d0a"),
    ("login_ns", "a login, with its list and its event ÷ 100", "#b3261e"),
]
BYTES = [
    ("subscription_bytes", "a subscription", "#1f5fa8"),
    ("account_bytes", "an account online ÷ 10", "#b3261e"),
]
DIVISORS = {"login_ns": 100, "account_bytes": 10}


def svg(rows):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(LEFTS[0] - 40, 28, "What the engine needs, as what it holds grows", size=16),
    ]
    sweeps = [
        ("accounts", "accounts", "accounts, 10 subscriptions each"),
        ("subscriptions", "subscriptions", "subscriptions, 100 an account"),
    ]
    for top, (sweep, column, label) in zip(TOPS, sweeps):
        chosen = [row for row in rows if row["sweep"] == sweep]
        for left, curves, unit in ((LEFTS[0], TIMES, "ns of CPU"), (LEFTS[1], BYTES, "bytes")):
            parts += panel(left, top, chosen, column, label, curves, unit)
    return "\n".join(parts + ["</svg>", ""])


def panel(left, top, rows, column, label, curves, unit):
    xs = [float(row[column]) for row in rows]
    series = [
        [float(row[name]) / DIVISORS.get(name, 1) for row in rows] for name, _, _ in curves]
    most = nice_above(max(max(values) for values in series))
    bottom = top + PANEL_HEIGHT
    low, high = decade(min(xs)), decade(max(xs))

    def x_of(value):
        return left + PANEL_WIDTH * (log10(value) - low) / max(high - low, 1)

    def y_of(value):
        return bottom - PANEL_HEIGHT * value / most

    parts = [text(left, top - 12, unit)]
    for step in range(5):
        value = most * step / 4
        y = y_of(value)
        parts.append(line(left, y, left + PANEL_WIDTH, y, "#ddd" if step else "#222"))
        parts.append(text(left - 6, y + 4, f"{value:g}", anchor="end"))
    for power in range(low, high + 1):
        x = x_of(10 ** power)
        parts.append(line(x, bottom, x, bottom + 5, "#222"))
        parts.append(text(x, bottom + 18, thousands(10 ** power), anchor="middle"))
    parts.append(text(left + PANEL_WIDTH / 2, bottom + 36, label, anchor="middle"))
    for number, ((_, name, colour), values) in enumerate(zip(curves, series)):
        points = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in zip(xs, values))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>'
            for x, y in zip(xs, values)]
        parts.append(text(left + 10, top + 6 + 15 * number, name, colour=colour))
    return parts


def nice_above(value):
    """The next number that divides well by four."""
    step = 1
    while True:
        for factor in (1, 2, 4, 6, 8):
            if factor * step >= value * 1.25:
                return factor * step
        step *= 10


def decade(value):
    return round(log10(value))


def thousands(value):
    return f"{value // 10 ** 6} M" if value >= 10 ** 6 else f"{value:,}"


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def text(x, y, words, anchor="start", size=12, colour="#222"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{words}</text>')
