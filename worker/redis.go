package worker

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
)

// ClientOptions returns the options for go-redis to connect to a broker at an address in the form
// of Dial. It is for features that Client does not have.
func ClientOptions(address string) (*redis.Options, error) {
	o, err := respclient.Options(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the broker: %w", ErrInvalid, err)
	}
	return o, nil
}
