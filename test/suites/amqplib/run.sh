#!/bin/sh
# amqplib, the Node client. 2.1.0 is the last version whose package has the tests.
. ../lib.sh
fetch() {
	cd "$DIR"
	npm pack --silent amqplib@2.1.0
	tar xzf amqplib-2.1.0.tgz
	cd package
	npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
}
run() {
	cd "$DIR/package"
	URL="amqp://localhost:$AMQP_PORT" timeout 120 node --test --test-reporter=junit --test-reporter-destination="$REPORT" test/ || [ $? -eq 1 ]
}
"$1"
