# Fiveways. `make` alone lists the targets.

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
GO        ?= go
BINARY    ?= bin/fiveways
OFFSET    ?= 0
FUZZTIME  ?= 30s
CRASH_ROUNDS ?= 60
CRASH_SEEDS  ?= 30
FAULT_SEEDS  ?= 20
FAULT_ROUNDS ?= 7
SEEDS        ?= 20000
FAILOVERS    ?= 100
HOURS        ?= 6
PLANTED      ?= .
ORACLE_OPS   ?= 20000
ORACLE_SEED  ?= 0
BENCHFLAGS   ?= --install --doc docs/benchmarks.md
CYCLONEDX    ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
GOSEC        ?= github.com/securego/gosec/v2/cmd/gosec@v2.30.0
GOVULNCHECK  ?= golang.org/x/vuln/cmd/govulncheck@v1.9.0
STATICCHECK  ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
TESTTIMEOUT  ?= 15m
SLOW          = ./test/soak ./test/suites ./test/web ./test/clients ./test/crash ./test/etcd ./test/sql/... ./test/tutorials
PACKAGES     ?= $(SLOW) $$(.ci/packages others)

export CGO_ENABLED ?= 0
# The Java clients run for seconds: compiling their code well, and collecting with threads, costs
# them a third of their CPU.
export JAVA_TOOL_OPTIONS ?= -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

.DEFAULT_GOAL := help
.PHONY: help build run cluster demo setup check test units tested packages suites race lint security fuzz sim crash crash-points soak cluster-faults failovers planted oracle compare bench pictures deb release notices rename clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without the tag grpcnotrace, gRPC links html/template, whose use of reflection keeps every exported
# method: 12 MB.
build: ## build bin/fiveways, one static file
	$(GO) build -trimpath -buildvcs=auto -tags grpcnotrace -ldflags '-s -w -X fiveways.dev/fiveways/internal/cli.version=$(VERSION)' -o $(BINARY) ./cmd/fiveways

run: build ## build and serve, data in ./fiveways-data
	@exec bin/fiveways serve --data ./fiveways-data

# OFFSET is added to all ports, so that the cluster can run next to a broker.
cluster: build ## build and serve three nodes that are a cluster, data in ./fiveways-cluster
	@exec deploy/local/cluster bin/fiveways ./fiveways-cluster $(OFFSET)

demo: build ## start a broker, send messages, show what went where
	@bin/fiveways demo

# A client that cannot be set up is not an error here: its tests skip with a message (with CI=true
# they fail).
setup: ## install what the tests with real clients use (pika, amqplib, amqp-client, Celery, python-etcd3, jetcd, SQL drivers)
	@.ci/install
	@for client in python node java celery etcd_python; do test/clients/setup.sh $$client || echo "setup: no $$client client; its tests will skip"; done
	@cd test/web && if ! cmp -s package-lock.json node_modules/.lock; then npm ci --silent --ignore-scripts >/dev/null 2>&1 && cp package-lock.json node_modules/.lock \
	  || echo "setup: no axe-core; its test will skip"; fi
	@for driver in python node java; do test/sql/drivers/setup.sh $$driver || echo "setup: no SQL driver for $$driver; its tests will skip"; done

check: lint ## the quick checks, to run while working: vet, lint, and the unit tests without their long rounds
	$(GO) test -short -vet=off -timeout $(TESTTIMEOUT) ./cmd/... ./internal/... ./semaphore/... ./worker/... ./web/...

# All tests run also after a failure, so that one run shows all failures. Setting up waits for
# downloads most of the time.
test: ## vet and all tests, those of the engine with its invariants checked
	@.ci/slowest sh -c '$(MAKE) --no-print-directory -j 2 setup units; failed=$$?; \
	  $(MAKE) --no-print-directory packages && exit $$failed'

# The broker is built once for all tests that run it. The tag nextlevel is used only in
# internal/replica.
tested:
	$(GO) vet -tags nextlevel ./internal/replica/...
	$(GO) build -ldflags '-s -w' -o bin/tested ./cmd/fiveways

# The tests that use nothing but Go code of this module: the result of a package whose code has not
# changed comes from the cache. All other tests run the engine as it is released, without the checks
# of its invariants.
units: tested ## of the tests, those that use no other program; results come from Go's cache
	@failed=0; engine=$$(.ci/packages engine) && units=$$(.ci/packages units) || exit; \
	  $(GO) test -tags invariants -vet=all -timeout $(TESTTIMEOUT) $$engine || failed=1; \
	  $(GO) test -vet=all -timeout $(TESTTIMEOUT) $$units && exit $$failed

# The tests that use other clients or servers, or read what `go test` does not know of. Without
# -count=1 they would be taken from the cache although these have changed. TESTTIMEOUT is per
# package: a package that hangs fails instead. The slow packages come first, since the last would
# run alone. One more package runs at a time than there are processors, since the slow ones mostly
# wait; with more, some tests and clients would time out. All of go vet is included.
packages: tested
	@packages="$(PACKAGES)" && BROKERTEST_BIN=$(CURDIR)/bin/tested $(GO) test -count=1 -vet=all -timeout $(TESTTIMEOUT) \
	  -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) $$packages

# The quick suites are part of `make test`. SUITESFLAGS='-broker rabbitmq' runs them against
# RabbitMQ, for comparison.
suites: ## run all test suites of clients against the broker
	$(GO) test -count=1 -timeout 60m -v ./test/suites -suites all $(SUITESFLAGS)

race: ## all tests of the packages under the race detector (needs a C compiler)
	@command -v "$$($(GO) env CC)" >/dev/null || { echo "race: needs a C compiler; on Debian: apt-get install gcc libc6-dev"; exit 1; }
	CGO_ENABLED=1 $(GO) test -race -tags invariants -timeout $(TESTTIMEOUT) ./cmd/... ./internal/... ./worker/...

lint: ## vet, staticcheck and the rules of internal/lint
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -timeout $(TESTTIMEOUT) ./internal/lint

# G115 reports conversions between integer sizes, which codecs consist of; G104 reports ignored
# errors, which staticcheck and comments cover; G103 reports package unsafe; G304 reports file names
# given by the user of the program. govulncheck queries a database over the network, and prints a
# message if it cannot reach it.
security: ## gosec, and govulncheck where its database can be reached
	$(GO) run $(GOSEC) -quiet -severity medium -confidence medium -exclude G103,G104,G115,G304 -exclude-dir test -exclude-dir examples ./...
	@$(GO) run $(GOVULNCHECK) ./... || { [ $$? -eq 3 ] && exit 3; echo "security: govulncheck could not ask its database"; }

fuzz: ## run every fuzz target for FUZZTIME (30s) each
	@$(GO) list ./... | while read -r pkg; do \
	  for target in $$($(GO) test -list '^Fuzz' "$$pkg" | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
	  done; \
	done

# SIM_FROM=n begins with another seed. A failure names the seed to begin with.
sim: ## simulate clusters with faults, one for each of SEEDS (20000) seeds
	SIM_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 0 -v -run TestSimulation ./internal/replica

crash: ## kill -9 the broker under load CRASH_ROUNDS (60) times and check the history
	CRASH_ROUNDS=$(CRASH_ROUNDS) $(GO) test -count=1 -timeout 60m -v ./test/crash

# CRASH_FROM=n begins with another seed. A failure names the seed to begin with.
crash-points: ## crash a simulated disk at every operation that changes it, for CRASH_SEEDS (30) seeds
	CRASH_SEEDS=$(CRASH_SEEDS) $(GO) test -count=1 -timeout 0 -v -run 'CrashAtEveryOperation' ./internal/storage/store

# A short form is part of `make test`. SOAK_CSV=file gets all figures, and SOAK_SEED=n repeats the
# random choices. Histories that break a promise are in bin/_artifacts.
soak: ## have the broker work for HOURS (6) as in a company, check every promise, and see whether anything grows
	@mkdir -p bin
	SOAK_HOURS=$(HOURS) $(GO) test -count=1 -timeout 0 -v -artifacts -outputdir bin -run TestSoak ./test/soak

# FAILOVER_LOAD=messages,sql,jobs,tasks fills the cluster with a million of each of these.
failovers: ## kill the leader of a cluster FAILOVERS (100) times and tell how long a client waits
	FAILOVERS=$(FAILOVERS) FAILOVER_LOAD=$(FAILOVER_LOAD) $(GO) test -count=1 -timeout 0 -v -run TestFailoverTimes ./test/cluster

# A short form is part of `make test`. FAULT_SEED=n begins with another seed. A failure names the
# seed to begin with. The disk faults need root. FAULT_KINDS='is killed' limits the faults by name,
# and FAULT_LOADS=plain,keys limits the clients.
cluster-faults: ## 5 x FAULT_ROUNDS (7) faults for each of FAULT_SEEDS (20) clusters of three nodes under load: kill, hang, cut off, slow, full disks
	FAULT_SEEDS=$(FAULT_SEEDS) FAULT_ROUNDS=$(FAULT_ROUNDS) $(GO) test -count=1 -timeout 0 -v -run TestClusterFaults ./test/crash

# `make test` checks that the bugs still fit the sources. PLANTED='a put' selects bugs by name.
planted: ## build brokers with a bug each (test/planted), and see that tests of kills and of clusters find it
	PLANTED='$(PLANTED)' $(GO) test -count=1 -timeout 0 -v -run TestPlanted ./test/planted

# A seed of 0 takes one from the clock and prints it. Any other seed repeats its scripts.
oracle: ## play ORACLE_OPS (20000) random operations to RabbitMQ and to Fiveways and compare every reply
	$(GO) test -count=1 -timeout 60m -v -run TestRandom ./test/oracle -ops $(ORACLE_OPS) -seed $(ORACLE_SEED)

# In the tests the seeds are fixed. Here SEED is the current second unless it is given.
compare: ## compare SQL with PostgreSQL, the Redis protocol with Redis, jobs with the reference and the etcd API with etcd, on random input
	@seed=$${SEED:-$$(date +%s)}; echo "SEED=$$seed"; \
	  SEED=$$seed VALUES=5 EXPRESSIONS=20000 EXPRESSIONS_SEED=$$seed STATEMENTS=6000 STATEMENTS_SEED=$$seed FUNCTIONS=25 FUNCTIONS_SEED=$$seed COPIES=20000 COPIES_SEED=$$seed TRANSACTIONS=1000 TRANSACTIONS_SEED=$$seed MBUS=300 MBUS_SEED=$$seed \
	  REDIS_SEED=$$seed REDIS_TIMES=4 JOBS_SEED=$$seed JOBS_STEPS=50000 ETCD_SEED=$$seed ETCD_TIMES=7 \
	  $(GO) test -count=1 -timeout 60m ./internal/protocol/pgwire/sql/value ./internal/protocol/pgwire/sql/numeric ./test/sql/expressions ./test/sql/statements ./test/sql/calls ./test/sql/copy ./test/sql/transactions ./test/sql/conformance \
	  ./test/redis/... ./test/jobs ./test/etcd

bench: ## measure against other brokers; BENCHFLAGS are passed on
	$(GO) run ./test/bench $(BENCHFLAGS)

# Needs Chromium. It takes two minutes, since charts need data to show.
pictures: ## make the pictures of the page in docs/images
	@mkdir -p docs/images
	$(GO) test -count=1 -vet=off -timeout 15m -run TestPictures ./test/web -pictures $(CURDIR)/docs/images

deb: build ## build the Debian package bin/fiveways_VERSION_ARCH.deb
	@deploy/deb/build bin/fiveways $(VERSION) bin

# docs/releasing.md lists the requirements. PLATFORMS=linux/amd64 builds only that platform.
release: ## build what is published for VERSION=v0.1.0 of the commit that is checked out, in bin/release
	@CYCLONEDX=$(CYCLONEDX) deploy/release/build $(VERSION) bin/release

notices: ## write THIRD-PARTY-NOTICES, the licences of what is linked
	$(GO) test -count=1 ./test/packaging -run TestNotices -update

# The path is in go.mod, in the import lines and in the docs.
rename: ## give the module the path MODULE, to host it elsewhere
	@test -n "$(MODULE)" || { echo "rename: say which path: make rename MODULE=example.com/fiveways"; exit 2; }
	@old=$$($(GO) list -m) && git grep -lzF "$$old" | xargs -0 sed -i "s#$$old#$(MODULE)#g" && gofmt -w . && echo "rename: $$old is $(MODULE) now"

clean: ## remove what was built
	rm -rf bin
