#!/bin/sh
# kombu, the messaging library of Celery: its integration tests with py-amqp.
. ../lib.sh
fetch() {
	venv
	sdist kombu 5.7.0
}
run() { RABBITMQ_HOST=$AMQP_HOST RABBITMQ_5672_TCP=$AMQP_PORT pytest_run t/integration/test_py_amqp.py; }
"$1"
