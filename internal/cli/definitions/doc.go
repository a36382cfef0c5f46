// Package definitions has the commands about policies and parameters, and those that export and
// import all definitions.
package definitions
