"""Runs Schemathesis against a service of its own: fuzz.py TOOL [SECONDS] [SEED]"""

import os
import subprocess
import sys

from api import KEY, Service

tool = sys.argv[1]
seconds = sys.argv[2] if len(sys.argv) > 2 else "30"
seed = sys.argv[3] if len(sys.argv) > 3 else "1"

here = os.path.dirname(os.path.abspath(__file__))
# With passwords: otherwise their operations are rejected.
service = Service("--rate-limits", "off", "--auth", "password")
try:
    code = subprocess.call([
        tool, "--config-file", os.path.join(here, "schemathesis.toml"),
        "run", os.path.join(here, "..", "..", "docs", "openapi.json"),
        "--url", "http://127.0.0.1:%d" % service.http_port,
        "--header", "Authorization: Bearer " + KEY,
        # A stream does not end.
        "--exclude-operation-id", "readFeed", "--exclude-operation-id", "readUndelivered",
        "--checks", "all", "--max-time", seconds, "--seed", seed,
        "--request-timeout", "10", "--no-color",
    ], cwd=service.data)
    if service.process.poll() is not None:
        print("the service has ended:", service.log_text()[-2000:])
        code = 1
    elif service.terminate() != 0:
        code = 1
    errors = [line for line in service.log_text().splitlines() if " error " in line]
    if errors:
        print("\n".join(errors[:20]))
        code = 1
finally:
    service.close()
sys.exit(code)
