#!/bin/sh
# Installs the client libraries the scripts here use: pika into .venv, amqplib into node/node_modules, Celery into
# .venv-celery, python-etcd3 and etcd3gw into .venv-etcd; amqp-client stays in Maven's own folder, java/.build has its class path and the compiled programs.
# Usage: setup.sh [python] [node] [java] [celery] [etcd_python]   (all when none is named). Does nothing for what is already in place.
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

# venv makes the virtual environment $1 with what $2 names.
venv() {
	if [ -x "$1/bin/python" ] && cmp -s "$2" "$1/requirements.txt"; then return; fi
	rm -rf "$1"
	python3 -m venv "$1"
	limited "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
	cp "$2" "$1/requirements.txt"
}

python_client() { venv .venv python/requirements.txt; }

celery_client() { venv .venv-celery celery/requirements.txt; }

etcd_python_client() { venv .venv-etcd etcd/requirements.txt; }

node_client() {
	stamp=node/node_modules/.lock
	if cmp -s node/package-lock.json "$stamp"; then return; fi
	(cd node && limited npm ci --no-audit --no-fund --loglevel=error)
	cp node/package-lock.json "$stamp"
}

# The class path names files outside this folder, so it is asked for anew when one of them is gone.
java_class_path_is_good() {
	cmp -s java/pom.xml java/.build/pom.xml || return 1
	for jar in $(tr ':' ' ' <java/.build/classpath); do [ -f "$jar" ] || return 1; done
}

java_client() {
	mkdir -p java/.build
	if ! java_class_path_is_good; then
		limited mvn -q -B -f java/pom.xml dependency:build-classpath -Dmdep.outputFile="$PWD/java/.build/classpath"
		cp java/pom.xml java/.build/pom.xml
	fi
	rm -rf java/.build/classes
	javac -nowarn -cp "$(cat java/.build/classpath)" -d java/.build/classes java/*.java
}

if [ $# -eq 0 ]; then set -- python node java celery etcd_python; fi
for client in "$@"; do "${client}_client"; done
