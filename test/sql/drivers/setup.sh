#!/bin/sh
# Installs the drivers for these programs: psycopg 2 and 3 into .venv, node-postgres into
# node/node_modules. The JDBC driver stays in Maven's own folder; java/.build has its class path and
# the compiled programs.
# Usage: setup.sh [python] [node] [java] (default: all). It skips what is already installed.
set -eu
cd "$(dirname "$0")"
. ../../setup.sh

python_driver() { venv .venv python/requirements.txt; }
node_driver() { node_modules; }
java_driver() { java_classes; }

if [ $# -eq 0 ]; then set -- python node java; fi
for driver in "$@"; do "${driver}_driver"; done
