package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/failure"
)

// maxNameBytes is the longest name that protocols can carry.
const maxNameBytes = 255

// CheckName checks the name of a user or a virtual host, which facts hold as a JSON string. It
// returns ErrInvalidName if the name is invalid.
func CheckName(kind, name string) error {
	if err := CheckLength(kind, name); err != nil {
		return err
	}
	if !utf8.ValidString(name) {
		return &failure.Error{Err: failure.ErrInvalidName, Kind: kind, Name: name, Detail: "it is not UTF-8"}
	}
	return nil
}

// CheckLength checks that protocols can carry a name of this length. It returns ErrInvalidName if
// not.
func CheckLength(kind, name string) error {
	switch {
	case name == "":
		return &failure.Error{Err: failure.ErrInvalidName, Kind: kind, Name: name, Detail: "it is empty"}
	case len(name) > maxNameBytes:
		return &failure.Error{Err: failure.ErrInvalidName, Kind: kind, Name: name[:maxNameBytes], Detail: "it is longer than 255 bytes"}
	}
	return nil
}

// CleanTags removes blanks and duplicates.
func CleanTags(tags []string) (clean []string) {
	for _, tag := range tags {
		tag = strings.TrimSpace(strings.ToValidUTF8(tag, "?"))
		if tag != "" && !slices.Contains(clean, tag) {
			clean = append(clean, tag)
		}
	}
	return clean
}
