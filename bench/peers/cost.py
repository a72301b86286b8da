"""Runs a line of bash and prints as JSON what it took, its children included: cost.py <line>."""

import json
import resource
import subprocess
import sys
import time

began = time.monotonic()
subprocess.run(["bash", "-o", "pipefail", "-c", sys.argv[1]], stdout=sys.stderr, check=True)
seconds = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": seconds, "cpuSeconds": used.ru_utime + used.ru_stime, "peakMegabytes": used.ru_maxrss / 1024}))
