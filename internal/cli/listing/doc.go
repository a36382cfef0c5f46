// Package listing builds the commands that list or show objects of the HTTP API, with the flags
// that all lists share: --columns, --sort, --reverse, --match, --vhost and -o.
package listing
