package worker

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/respclient"
)

// ClientOptions are what go-redis needs to reach a broker at an address as Dial takes it, for what
// Client does not have.
func ClientOptions(address string) (*redis.Options, error) {
	o, err := respclient.Options(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the broker: %w", ErrInvalid, err)
	}
	return o, nil
}
