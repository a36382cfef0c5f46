#!/bin/sh
# Installs the client libraries for these scripts: pika into .venv, amqplib into node/node_modules,
# Celery into .venv-celery, python-etcd3 and etcd3gw into .venv-etcd. amqp-client stays in Maven's own
# folder; java/.build has its class path and the compiled programs.
# Usage: setup.sh [python] [node] [java] [celery] [etcd_python] (default: all). It skips what is
# already installed.
set -eu
cd "$(dirname "$0")"
. ../setup.sh

python_client() { venv .venv python/requirements.txt; }
celery_client() { venv .venv-celery celery/requirements.txt; }
etcd_python_client() { venv .venv-etcd etcd/requirements.txt; }
node_client() { node_modules; }
java_client() { java_classes; }

if [ $# -eq 0 ]; then set -- python node java celery etcd_python; fi
for client in "$@"; do "${client}_client"; done
