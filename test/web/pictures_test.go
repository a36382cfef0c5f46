package web

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var picturesTo = flag.String("pictures", "", "folder that pictures of the page for the docs are written to")

// largestPicture limits the size of a picture in the repository.
const largestPicture = 150 << 10

// pictures maps the pictures of the docs to the views that they show.
var pictures = map[string]string{"overview": "overview", "queues": "queues", "queue": "queues/%2F/audit", "jobs": "jobs/%2F/mails", "topology": "topology"}

// TestPictures takes the pictures of the docs from a broker in use: see make pictures.
func TestPictures(t *testing.T) {
	if *picturesTo == "" {
		t.Skip("make pictures makes them")
	}
	s := openShop(t, "--stats-interval", "1s")
	s.trade()
	s.flood("invoices")
	s.publish("shop.dead", "", map[string]any{}, "died")
	p := openAt(t, s.at)
	p.patience *= 10
	p.login()
	p.sized(1280, 800)
	p.showView("overview")
	p.readsIn(`[aria-label="Needs attention"] td`, "Growing queue")
	p.readsIn(`[aria-label="Time range of charts"]`, "10 minutes") // a minute has passed
	for name, view := range pictures {
		p.showView(view)
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		must(t, err)
		if len(picture) > largestPicture {
			t.Errorf("%s has %d bytes, the most is %d", name, len(picture), largestPicture)
		}
		must(t, os.WriteFile(filepath.Join(*picturesTo, name+".png"), picture, 0o644))
	}
}
