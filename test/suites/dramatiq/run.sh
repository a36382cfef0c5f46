#!/bin/sh
# dramatiq, the task queue: the tests of its RabbitMQ broker. common.py and conftest.py in this folder
# replace those that the source package lacks.
. ../lib.sh
fetch() {
	venv
	sdist dramatiq 2.2.1
	cp common.py conftest.py "$DIR/src/tests/"
	touch "$DIR/src/tests/__init__.py"
}
run() { pytest_run tests/test_rabbitmq.py -o addopts=; }
"$1"
