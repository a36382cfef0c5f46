#!/bin/sh
# py-amqp, the client used by kombu and Celery: its integration tests without TLS, and its unit tests.
. ../lib.sh
fetch() {
	venv
	sdist amqp 5.4.2
}
run() { RABBITMQ_HOST=$AMQP_HOST RABBITMQ_5672_TCP=$AMQP_PORT pytest_run t/integration t/unit -k 'not tls'; }
"$1"
