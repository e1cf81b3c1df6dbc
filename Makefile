# make run        install what is missing, build, serve on 127.0.0.1:7400, HTTP on 7401
# make run-tls    the same over TLS, with a test certificate: prints what to type next
# make run-xmpp   the same for XMPP clients, with the same certificate
# make build      install what is missing, build .build/release/porchlight and porchlight-bench
# make test       install what is missing, build, test: what must hold before a change lands
# make test-long  what takes longer: other carriers, fuzzing, sanitizers, benchmarks: hours
# make check      lint, build, quick tests: at most 3 minutes after the build
# make test-js    the tests of the JavaScript SDK, with .build/debug/porchlight if it is built
# make test-js-full  the same with more: 500 clients and 20 kills, 1,000 simulations
# make test-runtimes the same in Node 22 and 24, Deno and Bun, which it installs from PyPI
# make test-browser  the SDK, the demo and the console in Chromium and Firefox
# make test-browser-full  the same, with pages hidden or frozen for three minutes, and more load
# make demo       build, serve a page with two users, to try it out: PORT=8010 make demo
# make docs       the documentation as a site, in .build/site
# make simulate   the simulator for a while, from a seed: make simulate SEED=1 HOURS=0.1
# make static     build both in .build/static, for machines without Swift
# make deb        build both, and Debian packages of them in .build/deb; SUITE=trixie: for Debian 13
# make test-deb   install, upgrade and remove the packages in fresh Debians; needs root
# make install    install what is in .build/static, the unit and example settings: PREFIX, DESTDIR
# make outdated   list dependencies that have newer versions
# make clean      remove everything that was built

.PHONY: help run run-tls run-xmpp build test test-long check test-js test-js-full test-runtimes test-browser test-browser-full demo docs simulate static deb test-deb install outdated setup clean
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

run: build
	exec .build/release/porchlight serve --http 127.0.0.1:7401

run-tls: build
	exec scripts/run-tls

run-xmpp: build
	exec scripts/run-xmpp

# The service, and the load test that `porchlight bench` starts: SwiftPM builds one at a time.
PRODUCTS = porchlight porchlight-bench
build: setup
	for product in $(PRODUCTS); do \
		swift build --no-color-diagnostics -c release --product $$product || exit; \
	done

# Debian's Python, whatever else this machine has.
test test-long: export PATH := /usr/bin:$(PATH)
test:
	@scripts/setup test
	@scripts/test

test-long:
	@scripts/setup test-long
	@scripts/test long

check: setup
	@scripts/test check

test-js:
	@scripts/setup javascript
	@clients/js/test/run

test-js-full: export STORM_CLIENTS = 500
test-js-full: export STORM_KILLS = 20
test-js-full: export SIMULATE_RUNS = 1000
test-js-full: export TRUTH_ROUNDS = 20
test-js-full: test-js

test-runtimes:
	@clients/js/test/runtimes --install

test-browser:
	@scripts/setup browser
	@clients/js/test/browser/run
	@Tests/Console/run

test-browser-full:
	@scripts/setup browser
	@clients/js/test/browser/run --full
	@Tests/Console/run --full

PORT ?= 8000
demo: build
	exec .build/release/porchlight demo --port $(PORT)

docs:
	@scripts/setup docs
	@scripts/docs

SEED ?=
HOURS ?= 0.1
simulate: setup
	SIMULATE_SEED=$(SEED) SIMULATE_HOURS=$(HOURS) \
		swift test --no-color-diagnostics --filter 'as long as is asked' --explicit-target-dependency-import-check error

# In a directory of its own: two kinds of build in one would each build everything again.
static: setup
	for product in $(PRODUCTS); do \
		swift build --no-color-diagnostics -c release --product $$product --static-swift-stdlib \
			--scratch-path .build/static \
			&& strip -o .build/static/$$product .build/static/release/$$product || exit; \
	done
	@ls -lh $(PRODUCTS:%=.build/static/%) | awk '{ print "built " $$NF ", " $$5 }'

# On this system, or in a minimal Debian of another suite.
ifdef SUITE
deb:
	@scripts/deb-suite $(SUITE)
else
deb: static
	@scripts/setup deb
	@scripts/deb
endif

test-deb: static
	@scripts/setup test-deb
	@scripts/test-deb

# Builds nothing, so that `sudo make install` leaves no files of root in .build. Settings that are
# there already are kept.
install:
	@for product in $(PRODUCTS); do test -x .build/static/$$product \
		|| { echo "run \`make static\` first" >&2; exit 1; }; done
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(PRODUCTS:%=.build/static/%)
	install -d -m 755 $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/bin/porchlight|$(PREFIX)/bin/porchlight|' packaging/porchlight.service \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/porchlight.service
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/porchlight.service
	install -D -m 644 packaging/porchlight.sysusers \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/porchlight.conf
	for product in $(PRODUCTS); do \
		scripts/manual .build/static/$$product $(DESTDIR)$(PREFIX)/share || exit; \
	done
	@if [ -e $(DESTDIR)$(SYSCONFDIR)/porchlight/porchlight.yml ]; then \
		echo "$(DESTDIR)$(SYSCONFDIR)/porchlight/porchlight.yml is kept as it is"; \
	else \
		install -D -m 644 packaging/porchlight.yml \
			$(DESTDIR)$(SYSCONFDIR)/porchlight/porchlight.yml; \
	fi
	@echo "next: systemd-sysusers && systemctl daemon-reload && systemctl enable --now porchlight"

outdated:
	@scripts/outdated

setup:
	@scripts/setup

clean:
	rm -rf .build
