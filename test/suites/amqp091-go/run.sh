#!/bin/sh
# amqp091-go, the Go client: all tests of the module, including those with the build tag
# "integration".
. ../lib.sh
fetch() {
	module=$(cd .. && go list -m -f '{{.Dir}}' github.com/rabbitmq/amqp091-go)
	cp -r "$module" "$DIR/src"
	chmod -R u+w "$DIR/src"
	cd "$DIR/src" && go mod download
}
run() {
	cd "$DIR/src"
	go test -vet=off -tags integration -count 1 -timeout 4m -json -skip "^($(echo "$SKIP" | paste -sd '|' -))\$" . >"$REPORT" || [ $? -eq 1 ]
}
"$1"
