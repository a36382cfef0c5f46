# Functions for the run.sh scripts of the suites. Each is called as
#   run.sh fetch DIR          downloads the suite and its dependencies into the empty folder DIR
#   run.sh run DIR REPORT     runs it against AMQP_HOST:AMQP_PORT (AMQP_URL) as guest, and writes REPORT (JUnit or go test -json);
#                             SKIP has the names of the cases to skip, one per line
set -eu

# venv creates DIR/venv with the packages listed in requirements.txt next to run.sh.
venv() {
	python3 -m venv "$DIR/venv"
	"$DIR/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$HERE/requirements.txt"
}

# sdist NAME VERSION downloads a source package of PyPI into DIR/src.
sdist() {
	"$DIR/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$1" --dest "$DIR" "$1==$2"
	mkdir "$DIR/src"
	tar xzf "$DIR"/*.tar.gz -C "$DIR/src" --strip-components 1
}

# go_module PATH VERSION downloads a Go module into DIR/src, with the dependencies of its tests.
go_module() {
	mkdir "$DIR/get"
	cd "$DIR/get"
	go mod init get
	module=$(go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	cp -r "$module" "$DIR/src"
	chmod -R u+w "$DIR/src"
	cd "$DIR/src" && go vet ./... >/dev/null 2>&1 || true # compiles the tests and downloads their imports
}

# crate NAME VERSION downloads a crate, whose archive includes its tests, into DIR/src.
crate() {
	cargo new --quiet --lib --vcs none --name get "$DIR/get"
	cd "$DIR/get"
	cargo add --quiet --no-default-features "$1@=$2"
	manifest=$(cargo metadata --quiet --format-version 1 --filter-platform "$(rustc --print host-tuple)" | tr , '\n' |
		sed -n "s|^\"manifest_path\":\"\(.*/$1-$2/Cargo.toml\)\"$|\1|p")
	cp -r "${manifest%/Cargo.toml}" "$DIR/src"
}

# compile_crate OPTION... compiles the tests of DIR/src, for the library and for each file, to programs
# in DIR/tests.
compile_crate() {
	cd "$DIR/src"
	CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0 cargo test --no-run --target-dir "$DIR/target" "$@" 2>"$DIR/compiled" ||
		{ cat "$DIR/compiled"; exit 1; }
	mkdir "$DIR/tests"
	sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$DIR/compiled" | while read -r program; do
		file=$(basename "$program")
		cp "$program" "$DIR/tests/${file%-*}"
	done
	rm -rf "$DIR/target"
}

# run_crate runs the programs in DIR/tests. Only nightly compilers support JUnit, and compilers that
# are told to be one. A program prints its report on one line, mixed with the output of its tests;
# cases of files have the file's name.
run_crate() {
	cd "$DIR/src"
	echo '<testsuites>' >"$REPORT"
	for program in "$DIR"/tests/*; do
		RUST_BACKTRACE=0 RUSTC_BOOTSTRAP=1 timeout 120 "$program" -Z unstable-options --format junit >"$DIR/said" || [ $? -eq 101 ] ||
			{ cat "$DIR/said"; exit 1; }
		sed -n "s|^.*<testsuites>\(.*\)</testsuites>$|\1|p" "$DIR/said" | sed "s/classname=\"integration\"/classname=\"$(basename "$program")\"/g" >>"$REPORT"
	done
	echo '</testsuites>' >>"$REPORT"
}

# debian_source RELEASE NAME [VERSION] downloads Debian's upstream source of a package into DIR/src,
# from the mirror of this machine. The lists of apt are not changed.
debian_source() {
	site=$(apt-get indextargets --format '$(SITE)' | grep -v -- -security | head -n 1)
	mkdir -p "$DIR/apt/lists/partial" "$DIR/apt/cache/archives/partial" "$DIR/src"
	cat >"$DIR/apt/debian.sources" <<-END
		Types: deb-src
		URIs: $site
		Suites: $1
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
	options="-qq -o Dir::Etc::sourcelist=$DIR/apt/debian.sources -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists=$DIR/apt/lists -o Dir::Cache=$DIR/apt/cache -o APT::Sandbox::User=root"
	apt-get $options update
	# Additional parts of the upstream source are not needed, and not every mirror has them.
	(cd "$DIR/apt" && apt-get $options source --download-only --tar-only "$2${3:+=$3}") || ls "$DIR"/apt/*.orig.tar.*
	tar xf "$DIR"/apt/*.orig.tar.* -C "$DIR/src" --strip-components 1
	rm -rf "$DIR/apt"
}

# needs PACKAGE... requires Debian packages: root installs missing ones.
needs() {
	missing=""
	for package; do dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing="$missing $package"; done
	[ -z "$missing" ] && return
	[ "$(id -u)" -eq 0 ] || { echo "install:$missing"; exit 1; }
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $missing
}

# pytest_run FOLDER ARGUMENT... runs pytest in DIR/src. The report has the failures.
pytest_run() {
	cd "$DIR/src"
	set -- "$@" -q -p no:cacheprovider --timeout 60 --junitxml "$REPORT"
	if [ -n "$SKIP" ]; then
		while read -r case; do set -- "$@" --deselect "$case"; done <<-END
			$SKIP
		END
	fi
	"$DIR/venv/bin/python" -m pytest "$@" || [ $? -eq 1 ]
}

HERE=$(pwd) DIR=$2 REPORT=${3:-} SKIP=${SKIP:-}
