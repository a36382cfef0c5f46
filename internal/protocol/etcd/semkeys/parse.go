package semkeys

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// parseSettings parses the value of a semaphore's key: JSON with the settings to change, or an
// empty value for none. The result of a get may be put again: fields that cannot be set are
// ignored.
func parseSettings(key string, value []byte) (semaphores.Settings, error) {
	if len(bytes.TrimSpace(value)) == 0 {
		return semaphores.Settings{}, nil
	}
	var v struct {
		semjson.Settings
		VHost           json.RawMessage `json:"vhost"`
		Key             json.RawMessage `json:"key"`
		Waiting         json.RawMessage `json:"waiting"`
		Acquired        json.RawMessage `json:"acquired"`
		TryReleaseAsked json.RawMessage `json:"try_release_asked"`
	}
	if err := semjson.Decode(value, &v); err != nil {
		return semaphores.Settings{}, invalid("the value of a semaphore is a JSON object: " + err.Error())
	}
	s, err := v.Settings.Of(key)
	return s, toStatus(err)
}

// wish is the content of a task's value.
type wish struct {
	priority float64
	lease    int64 // ms; 0: the default of the semaphore
}

// parseWish parses the value of a task's key: its priority, or a JSON object with it. The result of
// a get may be put again: fields that cannot be set are ignored.
func parseWish(value []byte) (w wish, err error) {
	value = bytes.TrimSpace(value)
	if len(value) > 0 && value[0] == '{' {
		return parseWishObject(value)
	}
	w.priority, err = strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsNaN(w.priority) || math.IsInf(w.priority, 0) {
		return w, invalid(`the value of a task is its priority, a number, or JSON as {"priority":5}`)
	}
	return w, nil
}

func parseWishObject(value []byte) (wish, error) {
	var v struct {
		Priority *float64        `json:"priority"`
		Lease    int64           `json:"lease"`
		Task     json.RawMessage `json:"task"`
		Status   json.RawMessage `json:"status"`
		Position json.RawMessage `json:"position"`
		Enqueued json.RawMessage `json:"enqueued"`
		Expires  json.RawMessage `json:"expires"`
	}
	if err := semjson.Decode(value, &v); err != nil {
		return wish{}, invalid("the value of a task: " + err.Error())
	}
	if v.Priority == nil {
		return wish{}, invalid("the value of a task has no priority")
	}
	return wish{*v.Priority, v.Lease}, nil
}
