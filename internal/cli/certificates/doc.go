// Package certificates has the command that creates certificates for first steps and tests.
package certificates
