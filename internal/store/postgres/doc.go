// Package postgres keeps a registry in a PostgreSQL database that any number of processes share. The format is that of package store.
//
// The address is a URL, postgres://USER@HOST:PORT/NAME, with the parameters of libpq and of the pool (pool_max_conns and so on). The database must have the
// encoding UTF8 and be empty or the registry's; tables lie in the current schema, so several registries may share a database with a search_path each. A
// server with synchronous_commit or fsync off is refused, because it can lose what it acknowledged. Behind a pooler of transactions add
// default_query_exec_mode=exec.
//
// Statements stay within what wire-compatible engines accept: plain tables, btree indices, ON CONFLICT with columns, RETURNING, a sequence; a test looks
// for what lies outside.
//
// Writers run at SERIALIZABLE and are repeated after serialisation failures, deadlocks and lost connections, with pauses that double, some seconds in all
// and never beyond the caller's context. Each act records its operation in the transaction, so that an act whose commit was not acknowledged is not run
// twice: the next attempt finds it. Writers of one process that meet at a head wait for each other before they begin instead of repeating each other's work.
package postgres
