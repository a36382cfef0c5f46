package timezone

import (
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // embeds the time zone database
	"unicode"
)

// abbreviationList are PostgreSQL's default zone abbreviations with their offsets in minutes east
// of UTC.
const abbreviationList = `acdt 630, acsst 630, acst 570, act -300, acwst 525, adt -180, aedt 660, aesst 660, aest 600, aft 270, akdt -480, 
akst -540, almst 420, almt 360, amst 240, amt -240, anast 720, anat 720, arst -180, art -180, ast -240, awsst 540, 
awst 480, azost 0, azot -60, azst 240, azt 240, bdst 120, bdt 360, bnt 480, bort 480, bot -240, bra -180, brst -120, 
brt -180, bst 60, btt 360, cadt 630, cast 570, cct 480, cdt -300, cest 120, cet 60, cetdst 120, chadt 825, chast 765, 
chut 600, ckt -600, clst -180, clt -180, cot -300, cst -360, cxt 420, davt 420, ddut 600, easst -300, east -300, 
eat 180, edt -240, eest 180, eet 120, eetdst 180, egst 0, egt -60, est -300, fet 180, fjst 780, fjt 720, fkst -180, 
fkt -180, fnst -60, fnt -120, galt -360, gamt -540, gest 240, get 240, gft -180, gilt 720, gmt 0, gyt -240, hkt 480, 
hst -600, ict 420, idt 180, iot 360, irkst 480, irkt 480, irt 210, ist 120, jayt 540, jst 540, kdt 600, kgst 360, 
kgt 360, kost 660, krast 420, krat 420, kst 540, lhdt 660, lhst 630, ligt 600, lint 840, lkt 330, magst 660, 
magt 660, mart -570, mawt 300, mdt -360, mest 120, mesz 120, met 60, metdst 120, mez 60, mht 720, mmt 390, mpt 600, 
msd 240, msk 180, mst -420, must 300, mut 240, mvt 300, myt 480, ndt -150, nft -210, novst 420, novt 420, npt 345, 
nst -210, nut -660, nzdt 780, nzst 720, nzt 720, omsst 360, omst 360, pdt -420, pet -300, petst 720, pett 720, 
pgt 600, pht 480, pkst 360, pkt 300, pmdt -120, pmst -180, pont 660, pst -480, pwt 540, pyst -180, pyt -180, ret 240, 
sadt 630, sast 120, sct 240, sgt 480, taht -600, tft 300, tjt 300, tkt 780, tmt 300, tot 780, trut 600, tvt 720, 
uct 0, ulast 540, ulat 480, ut 0, utc 0, uyst -120, uyt -180, uzst 360, uzt 300, vet -240, vlast 600, vlat 600, 
volt 180, vut 660, wadt 480, wakt 720, wast 420, wat 60, wdt 540, wet 0, wetdst 60, wft 720, wgst -120, wgt -180, 
xjt 360, yakst 540, yakt 540, yapt 600, yekst 360, yekt 300, z 0, zulu 0`

var abbreviations = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for _, entry := range strings.Split(strings.ReplaceAll(abbreviationList, "\n", ""), ", ") {
		name, minutes, _ := strings.Cut(entry, " ")
		all[name], _ = strconv.Atoi(minutes)
	}
	return all
})

// Abbreviation returns the offset of a zone abbreviation such as "msk", in lower case, in
// seconds east of UTC.
func Abbreviation(name string) (seconds int, ok bool) {
	minutes, ok := abbreviations()[name]
	return minutes * 60, ok
}

// Lookup returns a time zone by name in any case (Europe/Moscow), or by a POSIX rule (UTC+3,
// <+03>-3, CET-1CEST,M3.5.0,M10.5.0/3, where east is negative). Its String is the name in the time
// zone database, or the rule in upper case. It returns nil if there is none.
func Lookup(name string) *time.Location {
	if zone := load(name); zone != nil {
		return zone
	}
	if zone := posix(strings.ToUpper(name)); zone != nil {
		return zone
	}
	for _, spelled := range spellings(name) {
		if zone := load(spelled); zone != nil {
			return zone
		}
	}
	return nil
}

func load(name string) *time.Location {
	if name == "" || strings.EqualFold(name, "local") {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// irregular are the zone names with irregular capitalization.
var irregular = strings.Fields(`Africa/Dar_es_Salaam America/Argentina/ComodRivadavia America/Knox_IN America/Port-au-Prince
America/Port_of_Spain Antarctica/DumontDUrville Antarctica/McMurdo Australia/ACT Australia/LHI Australia/NSW Brazil/DeNoronha
Chile/EasterIsland Europe/Isle_of_Man GB-Eire Mexico/BajaNorte Mexico/BajaSur`)

// spellings returns possible spellings in the time zone database of a name given in any case.
func spellings(name string) []string {
	all := []string{strings.ToUpper(name), capitalised(name)}
	if area, place, ok := strings.Cut(all[0], "/"); ok {
		all = append(all, area+"/"+capitalised(place), capitalised(area)+"/"+place) // US/Pacific, Etc/GMT+3
	}
	for _, spelled := range irregular {
		if strings.EqualFold(spelled, name) {
			return []string{spelled}
		}
	}
	return all
}

// capitalised capitalizes each word: america/new_york becomes America/New_York.
func capitalised(name string) string {
	start := true
	return strings.Map(func(r rune) rune {
		up := start
		start = r == '/' || r == '_' || r == '-'
		if up {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, name)
}

// IsFixed reports whether the offset of a zone has never changed.
func IsFixed(zone *time.Location) bool {
	_, first := time.Date(1900, 1, 1, 0, 0, 0, 0, zone).Zone()
	for year := 1901; year < 2038; year++ {
		for _, month := range []time.Month{time.January, time.July} {
			if _, offset := time.Date(year, month, 1, 0, 0, 0, 0, zone).Zone(); offset != first {
				return false
			}
		}
	}
	return true
}
