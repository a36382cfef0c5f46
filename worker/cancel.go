package worker

import "context"

// Cancel removes a job that is queued, and tells whether there was one. One that somebody handles is ErrLocked.
func (c *Client) Cancel(ctx context.Context, queue, mid string) (bool, error) {
	cmd, err := c.do(ctx, "JOB.CANCEL", queue, mid)
	if err != nil {
		return false, err
	}
	n, err := cmd.Int()
	return n > 0, err
}
