// Package storetest is the contract of app.Store as tests, and a third store that keeps everything in memory.
//
// Run holds a store to the contract: every method, order, kinds of error, cursors, isolation, operations, concurrency, and random sequences of operations
// against the memory as oracle. SQLite and PostgreSQL both pass it, and so does the memory itself.
//
// Memory is an app.Store for tests of the packages above: same rows, same order, same errors, no durability.
//
// RunGIDP, RunGIDPTogether and GIDPKill hold the stores of agents and of a discovery provider to durable.Store and providerhttp.Rows in the same ways; NewAgents
// and NewProvider are those in memory.
//
// Fill and Filled write and expect one row of every kind in every form; the schema fixtures in the stores' testdata were made with Fill.
package storetest
