// Package copytext reads and writes the text and CSV formats of COPY as PostgreSQL 15 does. Input
// and output are UTF-8. The caller converts between texts and column types.
package copytext
