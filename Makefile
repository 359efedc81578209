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

fuzz: ## every fuzz target, FUZZTIME executions each (default 100000x)
	@tools/fuzz.sh $(or $(FUZZTIME),100000x)

clean:
	rm -rf bin .tools
