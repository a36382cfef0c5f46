// Package datafolder has the commands about data folders: check one, repair it, and copy that of a
// running broker.
package datafolder
