package worker

import "context"

// Cancel removes a queued job, and reports whether there was one. It returns ErrLocked if a worker
// has the job.
func (c *Client) Cancel(ctx context.Context, queue, mid string) (bool, error) {
	cmd, err := c.do(ctx, "JOB.CANCEL", queue, mid)
	if err != nil {
		return false, err
	}
	n, err := cmd.Int()
	return n > 0, err
}
