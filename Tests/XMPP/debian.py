"""Debian packages that a test unpacks under .build, without installing them."""

import glob
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Missing(Exception):
    """A program is not installed, and its packages cannot be downloaded."""


def unpacked(name, *packages):
    """The folder .build/NAME with the content of the packages, and whether it is new."""
    folder = os.path.join(ROOT, ".build", name)
    mark = os.path.join(folder, "unpacked")
    if os.path.exists(mark):
        return folder, False
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        subprocess.run(["apt-get", "download", "-qq", *packages], cwd=folder, check=True,
                       capture_output=True, timeout=120)
        for package in glob.glob(folder + "/*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Missing("%s is not installed, and its packages cannot be had: %s" % (name, error))
    open(mark, "w").close()
    return folder, True


def libraries(folder):
    """The value of LD_LIBRARY_PATH for programs of this folder."""
    return ":".join(glob.glob(folder + "/usr/lib/*-linux-gnu"))
