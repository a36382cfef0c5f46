package catalog

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// name is text in a JSON fact whose bytes clients choose: the name of a queue or an exchange, a
// routing key. JSON can only hold Unicode, so anything that is not UTF-8 is written as
// {"base64":"…"}; everything else is a JSON string.
type name string

// encodedName is a name that is not UTF-8.
type encodedName struct {
	Base64 []byte `json:"base64"`
}

func (n name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(encodedName{[]byte(n)})
}

func (n *name) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, (*string)(n))
	}
	var e encodedName
	if err := json.Unmarshal(b, &e); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	*n = name(e.Base64)
	return nil
}
