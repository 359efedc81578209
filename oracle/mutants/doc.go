// Package mutants plants known mistakes into GIDP, one at a time, and holds that a test which claims to see each of them does.
package mutants
