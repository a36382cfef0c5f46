#!/bin/sh
# go-rabbitmq, a wrapper of amqp091-go: all tests of the module. They start RabbitMQ with docker; the
# docker in this folder only pretends to.
. ../lib.sh
fetch() {
	go_module github.com/wagslane/go-rabbitmq v0.15.0
	mkdir "$DIR/bin"
	printf '#!/bin/sh\necho broker\n' >"$DIR/bin/docker"
	chmod +x "$DIR/bin/docker"
}
run() {
	cd "$DIR/src"
	PATH=$DIR/bin:$PATH ENABLE_DOCKER_INTEGRATION_TESTS=true go test -vet=off -count 1 -timeout 4m -json ./... >"$REPORT" || [ $? -eq 1 ]
}
"$1"
