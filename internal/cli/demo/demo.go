package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"fiveways.dev/fiveways/internal/cli/serving"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/server"

	"github.com/rabbitmq/amqp091-go"
	"github.com/spf13/cobra"
)

// Command returns `fiveways demo`.
func Command(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "start a broker, send real messages, show where they went",
		Long: `Starts a broker on a free port with a temporary data folder, sends messages through it with an ordinary RabbitMQ
client, and shows for each queue what was expected, what arrived, and how long it took. Fails if anything is wrong.
Nothing is left behind.`,
		Example: "  fiveways demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "fiveways-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			cfg := config.Default()
			cfg.Data = dir
			cfg.AMQP = "127.0.0.1:0"
			cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP, cfg.Metrics = config.Off, config.Off, config.Off, config.Off, config.Off
			cfg.LogLevel = "warn"
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop() // without it Ctrl-C would leave the folder behind
			d := &demo{ctx: ctx, version: version, cfg: cfg, logs: cmd.ErrOrStderr()}
			rows, err := d.play()
			if len(rows) > 0 {
				err = errors.Join(printRows(cmd.OutOrStdout(), rows), err)
			}
			if err != nil {
				return err
			}
			return judge(cmd.OutOrStdout(), rows)
		},
	}
}

// demoRow is one line of the table: a queue, what must arrive there and what arrived.
type demoRow struct {
	scene     string
	published string // exchange and routing keys
	queue     string
	want, got []string
	took      time.Duration // from the first publish to the last arrival
}

func (r demoRow) ok() bool { return slices.Equal(r.want, r.got) }

func printRows(out io.Writer, rows []demoRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tPUBLISHED TO\tQUEUE\tEXPECTED\tARRIVED\tTIME\t")
	for _, r := range rows {
		mark := "ok"
		if !r.ok() {
			mark = "WRONG"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2f ms\t%s\n", r.scene, r.published, r.queue, strings.Join(r.want, " "),
			strings.Join(r.got, " "), float64(r.took)/float64(time.Millisecond), mark)
	}
	return w.Flush()
}

func judge(out io.Writer, rows []demoRow) error {
	wrong := 0
	for _, r := range rows {
		if !r.ok() {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("demo: %d of %d rows are not as expected", wrong, len(rows))
	}
	_, err := fmt.Fprintf(out, "%d of %d as expected.\n", len(rows), len(rows))
	return err
}

// demo runs the scenes against a broker that it starts and restarts.
type demo struct {
	ctx     context.Context
	version string // of this program
	cfg     config.Config
	logs    io.Writer

	server *server.Server
	client *amqp091.Connection
	ch     *amqp091.Channel
}

// play returns the rows of the scenes that ran. After an error some are missing.
func (d *demo) play() (rows []demoRow, err error) {
	if err := d.start(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, scene := range []func(*demo) ([]demoRow, error){
		(*demo).direct, (*demo).fanout, (*demo).topic, (*demo).confirm, (*demo).deadLetter, (*demo).delay, (*demo).once, (*demo).semaphore, (*demo).restart,
	} {
		more, err := scene(d)
		rows = append(rows, more...)
		if err != nil {
			return rows, fmt.Errorf("demo: %w", err)
		}
	}
	return rows, nil
}

// start starts a broker on the folder and opens a channel in confirm mode.
func (d *demo) start() error {
	srv, err := server.Start(d.cfg, d.version, serving.NewLogger(d.cfg, d.logs))
	if err != nil {
		return err
	}
	d.server = srv
	if d.client, err = amqp091.Dial("amqp://" + srv.Addrs()["amqp"]); err == nil {
		d.ch, err = d.client.Channel()
	}
	if err == nil {
		err = d.ch.Confirm(false)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("demo: connect: %w", err), d.stop())
	}
	return nil
}

func (d *demo) stop() error {
	var err error
	if d.client != nil {
		err = d.client.Close()
		d.client = nil
	}
	// Even after an interrupt the broker is stopped gracefully.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), d.cfg.DrainTimeout)
	defer cancel()
	return errors.Join(err, d.server.Drain(ctx))
}
