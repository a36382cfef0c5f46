#!/bin/sh
# rascal, a wrapper of amqplib: all tests. 12.0.1 is the last version whose package has them.
# random-readable, which it needs, is no longer on npm: random.js replaces it, and report.js replaces
# its test/index.js.
. ../lib.sh
fetch() {
	cd "$DIR"
	npm pack --silent rascal@12.0.1
	tar xzf rascal-12.0.1.tgz
	cd package
	npm pkg delete devDependencies # most of them check the style
	npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error amqplib@0.6.0 chalk@4.1.2 chance@1.1.13 zunit@3.2.1
	mkdir node_modules/random-readable
	cp "$HERE/random.js" node_modules/random-readable/index.js
	cp "$HERE/report.js" .
}
run() {
	cd "$DIR/package"
	env -u CI timeout 300 node report.js "$REPORT"
}
"$1"
