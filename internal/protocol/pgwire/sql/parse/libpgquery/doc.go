// Package libpgquery is PostgreSQL's own parser, libpg_query, translated from C by way of
// WebAssembly: module.go and module.dat, which translate/translate writes. An instance is made in a
// third of a millisecond, and has all of its memory in one slice.
package libpgquery
