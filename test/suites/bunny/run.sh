#!/bin/sh
# Bunny, the Ruby client: all specs except the files that exceptions.txt excludes. Its gems are
# Debian's, so bundler.rb in this folder loads nothing.
. ../lib.sh
fetch() {
	needs ruby ruby-rspec ruby-rspec-junit-formatter ruby-amq-protocol ruby-sorted-set
	debian_source trixie ruby-bunny 2.23.0-1
	cp bundler.rb "$DIR/"
}
run() {
	cd "$DIR/src"
	set -- $(find spec -name '*_spec.rb' | sort)
	for file; do
		shift
		echo "$SKIP" | grep -qxF "$file" || set -- "$@" "$file"
	done
	env -u CI timeout 840 ruby -I "$DIR" -I lib -I spec -S rspec --options /dev/null \
		--require rspec_junit_formatter --format RspecJunitFormatter --out "$REPORT" "$@" || [ $? -eq 1 ]
}
"$1"
