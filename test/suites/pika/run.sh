#!/bin/sh
# pika, the Python client. PyPI has no version with its tests; Debian has the source of 1.3.2.
. ../lib.sh
fetch() {
	venv
	debian_source trixie python-pika 1.3.2-1
}
run() { pytest_run tests/acceptance tests/unit --ignore tests/acceptance/twisted_adapter_tests.py -o python_files='*_test.py *_tests.py'; }
"$1"
