package config

// Nearest returns the known name with the smallest edit distance from name, or "" if even that is
// more than a third of its length.
func Nearest(name string, known []string) string {
	best, bestEdits := "", len(name)/3+1
	for _, k := range known {
		if e := edits(name, k); e < bestEdits {
			best, bestEdits = k, e
		}
	}
	return best
}

// edits returns the Levenshtein distance of a and b in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
