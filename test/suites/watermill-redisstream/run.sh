#!/bin/sh
# watermill-redisstream, Watermill's Redis package: all tests of the module in their short form.
. ../lib.sh
fetch() { go_module github.com/ThreeDotsLabs/watermill-redisstream v1.4.5; }
run() {
	cd "$DIR/src"
	go test -vet=off -short -count 1 -timeout 10m -json ./... >"$REPORT" || [ $? -eq 1 ]
}
"$1"
