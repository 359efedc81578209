# Two commands matter: `go run ./cmd/sayso demo` and `make test`.

.PHONY: build test tools bench fuzz clean

build: ## build ./bin/sayso
	go build -trimpath -o bin/sayso ./cmd/sayso

test: ## everything there is to run; installs what it needs
	@tools/test.sh

tools: ## only install what the tests need, under .tools/
	@tools/install.sh

bench: ## the numbers of docs/numbers.md, each beside its baseline
	@tools/bench.sh

fuzz: ## every fuzz target for FUZZTIME (default 60s) each
	@tools/fuzz.sh $(or $(FUZZTIME),60s)

clean:
	rm -rf bin .tools
