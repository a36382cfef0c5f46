package web

import (
	"fmt"
	"strings"
	"testing"
)

// coloured returns JavaScript that counts the pixels in the colour of a series, numbered from 1, in
// the chart with a title.
func coloured(title string, series int) string {
	return fmt.Sprintf(`(() => {
		const card = [...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2")?.textContent.startsWith(%q));
		const canvas = card?.querySelector("canvas");
		if (!canvas || !canvas.width) return 0;
		const hex = getComputedStyle(document.documentElement).getPropertyValue("--series-%d").trim();
		const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) {
			if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) n++;
		}
		return n;
	})()`, title, series)
}

// TestChartsDraw checks that every chart draws the traffic, in both themes, and continues with it.
func TestChartsDraw(t *testing.T) {
	s := openShop(t)
	s.trade()
	p := openAt(t, s.at)
	p.login()
	p.show("#/overview")
	p.do(evaluate(`(() => { const s = document.querySelector("[aria-label='Refresh interval']"); s.value = "2000"; s.dispatchEvent(new Event("change", {bubbles: true})); })()`))
	for _, theme := range []string{"Dark", "Light"} { // the button is labelled with the next theme
		for title, series := range map[string]int{"Messages in queues": 2, "Memory": 1, "Disk": 1, "A write to the disk": 2, "From publish to confirm": 2} {
			for i := range series {
				p.sees(coloured(title, i+1) + ` > 20`)
			}
		}
		p.sees(coloured("Message rates", 4) + ` > 20`) // where lines overlap, the last shows
		p.shot("charts-before-" + theme)
		p.press(theme)
	}
	const legend = `[...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2")?.textContent === "Message rates").querySelector(".plot").ariaLabel`
	told := ask[string](p, legend)
	p.sees(fmt.Sprintf(`%s !== %q`, legend, told))
	// The same holds when a step of the chart is longer than the sampling interval.
	p.show("#/overview?span=3600")
	p.sees(`(() => {
		const chart = [...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2")?.textContent === "Message rates");
		const tile = [...document.querySelectorAll(".tile")].find((t) => t.querySelector(".name").textContent === "Published");
		const rate = tile?.querySelector(".value").textContent;
		return rate !== undefined && rate !== "0/s" && chart?.querySelector(".legend .mark-1 b")?.textContent === rate;
	})()`)

	p.show("#/queues/%2F/audit")
	for _, pair := range [][3]string{{"Ready", "Messages", "ready"}, {"Unacked", "Messages", "unacknowledged"}, {"In", "Rates", "published"}, {"Out", "Rates", "delivered"}} {
		p.sees(`(() => { const [name, title, series] = ` + strings.ReplaceAll(fmt.Sprintf("%q", pair), `" "`, `", "`) + `;
			const tile = [...document.querySelectorAll(".tile")].find((t) => t.querySelector(".name").textContent === name)?.querySelector(".value").textContent;
			const chart = [...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2")?.textContent === title);
			const legend = [...chart?.querySelectorAll(".legend span") ?? []].find((e) => e.innerText.startsWith(series))?.querySelector("b").textContent;
			return tile !== undefined && legend === tile; })()`)
	}
	p.sees(coloured("Messages", 2) + ` > 20`)
	p.sees(coloured("Rates", 3) + ` > 20`)
	p.shot("queue-charts")
	p.show("#/exchanges/%2F/shop")
	p.sees(coloured("Rates", 2) + ` > 20`)
}
