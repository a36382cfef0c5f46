#!/bin/sh
# php-amqplib, the PHP client: unit and functional tests. phpunit and phpseclib are Debian's, and
# autoload.php in this folder replaces Composer's.
. ../lib.sh
fetch() {
	needs php-cli php-mbstring php-bcmath phpunit php-invoker php-phpseclib
	debian_source trixie php-amqplib 3.7.3-1
	mkdir "$DIR/src/vendor"
	cp autoload.php "$DIR/src/vendor/"
	cp phpunit.xml "$DIR/src/"
}
run() {
	cd "$DIR/src"
	TEST_RABBITMQ_HOST=$AMQP_HOST TEST_RABBITMQ_PORT=$AMQP_PORT timeout 500 \
		phpunit --configuration phpunit.xml --debug --log-junit "$REPORT" || [ $? -le 2 ]
}
"$1"
