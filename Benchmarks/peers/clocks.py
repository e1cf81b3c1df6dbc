"""CPU time and memory of a process and its descendants, from the kernel."""

import glob
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and all that descend from it."""
    found = [pid]
    for process in found:
        for path in glob.glob(f"/proc/{process}/task/*/children"):
            try:
                with open(path) as file:
                    found += [int(word) for word in file.read().split()]
            except OSError:
                pass  # The thread has gone.
    return found


def cpu_seconds(pid):
    """User and system time of the family so far, children that have ended included.

    A process's own clock is exact to nanoseconds where /proc/PID/stat counts ticks of 10 ms.
    """
    total = 0.0
    for process in family(pid):
        # The number of another process's CPU clock, as clock_getcpuclockid(3) makes it.
        total += time.clock_gettime(((~process) << 3) | 2)
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += (int(fields[13]) + int(fields[14])) / TICK
    return total


def memory_bytes(pid):
    """The family's proportional set size: pages that are shared count once."""
    total = 0
    for process in family(pid):
        with open(f"/proc/{process}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total
