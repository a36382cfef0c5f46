// Package copytext reads and writes the text and CSV formats of COPY as PostgreSQL 15 does. Texts
// are UTF-8 on both sides; converting them to the types of columns is up to the caller.
package copytext
