// Package datafolder has the commands about data folders: check one, repair it, copy that of a
// running broker, and make one of such a copy.
package datafolder
