package shardlog

import (
	"errors"
	"fmt"

	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// AsStoreError turns an error of the state machine into the corresponding error of the store.
func AsStoreError(err error) error {
	switch {
	case errors.Is(err, shardstate.ErrUnsupported):
		return fmt.Errorf("%w: %w", store.ErrUnsupportedFormat, err)
	case errors.Is(err, shardstate.ErrMalformed):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return err
}
