// Package copytext is the text and CSV formats of COPY, as PostgreSQL 15 writes and reads them.
// Texts are UTF-8 on both sides; types are none of its business.
package copytext
