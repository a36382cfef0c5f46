#!/bin/sh
# RabbitMQ's Java client: the functional and server tests of its source, with the client itself from
# Maven's repository. Report.java runs them one class at a time; SKIP lists classes, and cases as
# "Class method". They call RABBITMQCTL, also through targets of a Makefile.
. ../lib.sh
fetch() {
	debian_source bookworm rabbitmq-java-client
	cp pom.xml "$DIR/"
	cd "$DIR"
	mvn -q dependency:build-classpath -Dmdep.outputFile="$DIR/classpath" </dev/null
	mkdir classes
	javac -nowarn -d classes -cp "$(cat classpath)" -sourcepath src/src/test/java "$HERE/Report.java" \
		src/src/test/java/com/rabbitmq/client/test/functional/*.java src/src/test/java/com/rabbitmq/client/test/server/*.java
}
run() {
	cd "$DIR"
	set --
	tests=src/src/test/java/com/rabbitmq/client/test
	for class in $(sed -n 's/^[[:space:]]*\([A-Za-z0-9]*\)\.class,*$/\1/p' $tests/functional/FunctionalTests.java $tests/server/ServerTests.java); do
		file=$(find src/src/test/java -name "$class.java")
		class=$(echo "${file#src/src/test/java/}" | tr / .)
		class=${class%.java}
		echo "$SKIP" | grep -qxF "${class##*.}" || set -- "$@" "$class"
	done
	timeout 1700 java -Drabbitmqctl.bin="$RABBITMQCTL" -Drabbitmq.dir="$HERE/rabbitmq" -cp "classes:src/src/test/resources:$(cat classpath)" Report "$REPORT" "$@"
}
"$1"
