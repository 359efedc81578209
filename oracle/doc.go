// Package oracle is the root of a module of its own: independent implementations that the tests compare with, and the
// baselines that benchmarks are measured against. Nothing here is part of the product, and none of its requirements
// are the product's. Run it from this folder:
//
//	go test ./...
//	go test -run '^$' -bench . ./...
//	go run ./bench
package oracle
