// Package pgtest gives tests a PostgreSQL server of their own.
//
// The first test of a binary that asks for a database starts a cluster: initdb in a temporary folder, then postgres on a Unix socket in that folder, with
// no TCP port, so that nothing outside reaches it and nothing needs to be configured. Every test gets an empty database of its own. PostgreSQL refuses to
// run as root; there the cluster runs as the user postgres, which Debian's package makes.
//
// The cluster lasts as long as the test binary. Main stops it and removes its folder:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// Binaries are looked for in PATH and in Debian's folder for the newest version. Where there are none, tests are skipped, but fail under CI=true.
package pgtest
