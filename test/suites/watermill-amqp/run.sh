#!/bin/sh
# watermill-amqp, Watermill's AMQP package: all tests of the module in their short form, and those with
# the build tag "stress".
. ../lib.sh
fetch() { go_module github.com/ThreeDotsLabs/watermill-amqp/v3 v3.0.2; }
run() {
	cd "$DIR/src"
	WATERMILL_TEST_AMQP_URI=$AMQP_URL go test -vet=off -short -count 1 -timeout 10m -json ./... >"$REPORT" || [ $? -eq 1 ]
}
"$1"
