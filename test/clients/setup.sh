#!/bin/sh
# Installs the client libraries the scripts here use: pika into .venv, amqplib into node/node_modules.
# Usage: setup.sh [python] [node]   (both when none is named). Does nothing for what is already in place.
set -eu
cd "$(dirname "$0")"

# limited runs a command that uses the network and ends it after three minutes: a dead connection must not hold up the tests.
limited() {
	if ! command -v timeout >/dev/null; then
		"$@"
		return
	fi
	code=0
	timeout 180 "$@" || code=$?
	if [ $code -eq 124 ]; then echo "setup.sh: no end after 3 minutes: $*" >&2; fi
	return $code
}

python_client() {
	stamp=.venv/requirements.txt
	if [ -x .venv/bin/python ] && cmp -s python/requirements.txt "$stamp"; then return; fi
	rm -rf .venv
	python3 -m venv .venv
	limited .venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements.txt
	cp python/requirements.txt "$stamp"
}

node_client() {
	stamp=node/node_modules/.lock
	if cmp -s node/package-lock.json "$stamp"; then return; fi
	(cd node && limited npm ci --no-audit --no-fund --loglevel=error)
	cp node/package-lock.json "$stamp"
}

if [ $# -eq 0 ]; then set -- python node; fi
for client in "$@"; do "${client}_client"; done
