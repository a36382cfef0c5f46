#!/bin/sh
# rabbit-hole, the Go client of the management API: all tests of the module.
. ../lib.sh
fetch() {
	go_module github.com/michaelklishin/rabbit-hole/v3 v3.2.0
	cd "$DIR/src" && go test -c -vet=off -o "$DIR/suite" .
}
run() {
	cd "$DIR/src"
	skip=$(echo "$SKIP" | sed 's/\*//g; s/[{}]/./g; s/^ *//; s/ *$//' | paste -sd '|' -)
	GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT=5s "$DIR/suite" -test.timeout 5m -ginkgo.seed 1 -ginkgo.skip "$skip" -ginkgo.junit-report "$REPORT" || [ $? -eq 1 ]
}
"$1"
