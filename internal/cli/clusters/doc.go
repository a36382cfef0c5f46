// Package clusters has the commands about clusters: founding one, and asking and changing one by
// the control socket of a node that runs.
package clusters
