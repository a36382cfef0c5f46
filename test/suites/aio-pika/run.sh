#!/bin/sh
# aio-pika, the asyncio client: all tests except those with TLS. docker_client.py in this folder
# replaces the suite's own, which starts RabbitMQ in containers.
. ../lib.sh
fetch() {
	venv
	sdist aio-pika 10.2.1
	cp docker_client.py "$DIR/src/tests/"
}
run() { pytest_run tests -o log_cli=false --ignore tests/test_amqps.py; }
"$1"
