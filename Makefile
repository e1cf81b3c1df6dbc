# make run    install what is missing, build, serve on 127.0.0.1:7400
# make test   install what is missing, build, run every test

.PHONY: run build test setup clean

run: build
	exec .build/release/porchlight serve

build: setup
	swift build -c release --product porchlight

test: setup
	scripts/test

setup:
	@scripts/setup

clean:
	rm -rf .build
