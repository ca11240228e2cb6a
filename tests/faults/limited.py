"""Run as a program: the command line under a limit of the size that its files may have.

Usage: limited.py BYTES ARGUMENT...
"""

import resource
import sys

import memstrata.cli

if __name__ == "__main__":
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv[:] = ["memstrata", *sys.argv[2:]]
    memstrata.cli.main()
