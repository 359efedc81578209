// Package apptest holds what tests of internal/app and of its callers need: a store in memory that keeps the contract of app.Store, with
// switches for what a database does when things go wrong, a clock that tests move, and a registry that was initialised in a temporary folder.
package apptest
