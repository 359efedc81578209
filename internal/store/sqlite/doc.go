// Package sqlite keeps a registry, agents and a discovery provider in one SQLite file. The format is that of package store.
//
// The file is made with mode 0600; its write-ahead file (-wal) and shared-memory file (-shm) take the mode from it and belong to it: copy a live database
// with SQLite's own means only. Every connection runs with journal_mode WAL, synchronous FULL, foreign_keys on and a busy_timeout of 5 s. Open
// reads the settings back and refuses a database where one did not take, because at synchronous NORMAL an acknowledged commit may vanish with the power.
//
// One connection writes, with transactions that take the write lock at once; callers queue for it. As many connections read as there are CPUs, at least
// two; they never wait for the writer. Several processes may use one file: a writer waits for the lock of the other one, some tries of 5 s each.
// Acts of GIDP have a connection of their own, made for the first of them: those that wait for each other are committed together.
// After an import of 10,000 records or more the write-ahead file is folded back and truncated, as far as no reader holds it.
//
// Before an older database is migrated, a consistent copy of it is written beside it as NAME.schema-N.bak, mode 0600, N being the schema it had; a copy that is
// there already is kept. A file that holds tables of another program is refused.
package sqlite
