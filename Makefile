# make run    install what is missing, build, serve on 127.0.0.1:7400, HTTP on 7401
# make test   install what is missing, build, run every test
# make simulate SEED=1 HOURS=0.1   the simulator, from a seed, for a while

.PHONY: run build test simulate setup clean

run: build
	exec .build/release/porchlight serve --http 127.0.0.1:7401

build: setup
	swift build -c release --product porchlight

test:
	@scripts/setup test
	scripts/test

SEED ?=
HOURS ?= 0.1
simulate: setup
	SIMULATE_SEED=$(SEED) SIMULATE_HOURS=$(HOURS) \
		swift test --filter 'as long as is asked' --explicit-target-dependency-import-check error

setup:
	@scripts/setup

clean:
	rm -rf .build
