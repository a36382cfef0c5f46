# Functions for the setup.sh scripts of tests with real clients. Each script is in the folder into
# which it installs.

# limited runs a command that uses the network, for at most three minutes: a dead connection must not
# hold up the tests.
limited() {
	if ! command -v timeout >/dev/null; then
		"$@"
		return
	fi
	code=0
	timeout 180 "$@" || code=$?
	if [ $code -eq 124 ]; then echo "setup.sh: no end after 3 minutes: $*" >&2; fi
	return $code
}

# venv creates the virtual environment $1 with the packages listed in $2.
venv() {
	if [ -x "$1/bin/python" ] && cmp -s "$2" "$1/requirements.txt"; then return; fi
	rm -rf "$1"
	python3 -m venv "$1"
	limited "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
	cp "$2" "$1/requirements.txt"
}

# node_modules installs the packages listed in node/package-lock.json.
node_modules() {
	stamp=node/node_modules/.lock
	if cmp -s node/package-lock.json "$stamp"; then return; fi
	(cd node && limited npm ci --no-audit --no-fund --loglevel=error)
	cp node/package-lock.json "$stamp"
}

# The class path names files outside this folder, so it is computed again if one of them is missing.
java_class_path_is_good() {
	cmp -s java/pom.xml java/.build/pom.xml || return 1
	for jar in $(tr ':' ' ' <java/.build/classpath); do [ -f "$jar" ] || return 1; done
}

# java_classes compiles java/*.java into java/.build/classes. java/.build/classpath has the class path
# of the libraries listed in java/pom.xml, which stay in Maven's own folder.
java_classes() {
	mkdir -p java/.build
	if ! java_class_path_is_good; then
		limited mvn -q -B -f java/pom.xml dependency:build-classpath -Dmdep.outputFile="$PWD/java/.build/classpath"
		cp java/pom.xml java/.build/pom.xml
		rm -f java/.build/compiled
	fi
	if cat java/*.java | cmp -s - java/.build/compiled; then return; fi
	rm -rf java/.build/classes java/.build/compiled
	javac -nowarn -cp "$(cat java/.build/classpath)" -d java/.build/classes java/*.java
	cat java/*.java >java/.build/compiled
}
