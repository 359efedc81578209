package answertest

import (
	"fmt"
	"strings"
	"time"
)

// aroundTime is a small word around a clock time. %d is the hour, DAY the weekday; holds says whether it is so.
type aroundTime struct {
	kind, text string
	holds      func(w week, day, hour int) Truth
}

// some and all look at every minute of a part of a day.
func (w week) some(day, from, to int) Truth {
	for m := max(from, 0); m < min(to, 1440); m++ {
		if w.open(day, m) {
			return Yes
		}
	}
	return No
}

func (w week) all(day, from, to int) Truth {
	for m := from; m < to; m++ {
		if !w.open(day, m) {
			return No
		}
	}
	return Yes
}

// at is the state at an hour and some minutes.
func at(minutes int) func(week, int, int) Truth {
	return func(w week, day, hour int) Truth { return truth(w.open(day, (hour*60+minutes+1440)%1440)) }
}

func notAt(w week, day, hour int) Truth      { return at(0)(w, day, hour).not() }
func after(w week, day, hour int) Truth      { return w.some(day, hour*60, 1440) }
func before(w week, day, hour int) Truth     { return w.some(day, 0, hour*60) }
func threeHours(w week, day, hour int) Truth { return w.all(day, hour*60, hour*60+180) }
func afternoon(w week, day, hour int) Truth  { return truth(w.open(day, hour%12*60+720)) }
func morning(w week, day, hour int) Truth    { return truth(w.open(day, hour%12*60)) }
func nobodyKnows(week, int, int) Truth       { return Unknown }

// until an hour means that the place is open the minute before it.
var aroundTimes = map[string][]aroundTime{
	"en": {
		{"until", "open until %d:00 on DAY", at(-1)}, {"after", "open after %d:00 on DAY", after}, {"before", "open before %d:00 on DAY", before}, {"till", "open on DAY till %d:00", at(-1)},
		{"past", "open on DAY past %d:00", after}, {"closed at", "closed on DAY at %d:00", notAt}, {"not open at", "not open on DAY at %d:00", notAt}, {"pm", "open on DAY at %d pm", afternoon},
		{"am", "open on DAY at %dam", morning}, {"p.m.", "open on DAY at %d p.m.", afternoon}, {"half past", "open on DAY at half past %d", at(30)}, {"quarter to", "open on DAY at quarter to %d", at(-15)},
		{"around", "open on DAY around %d:00", nobodyKnows}, {"since", "open on DAY since %d:00", nobodyKnows}, {"in the evening", "open on DAY at %d in the evening", afternoon},
	},
	"de": {
		{"bis", "am DAY bis %d Uhr geöffnet", at(-1)}, {"nach", "am DAY nach %d Uhr geöffnet", after}, {"vor", "am DAY vor %d Uhr geöffnet", before}, {"halb", "am DAY um halb %d geöffnet", at(-30)},
		{"abends", "am DAY um %d Uhr abends geöffnet", afternoon}, {"nicht um", "am DAY um %d Uhr nicht geöffnet", notAt}, {"geschlossen um", "am DAY um %d Uhr geschlossen", notAt},
		{"gegen", "am DAY gegen %d Uhr geöffnet", nobodyKnows}, {"viertel nach", "am DAY um viertel nach %d geöffnet", at(15)},
	},
	"es": {
		{"de la tarde", "abiertos el DAY a las %d de la tarde", afternoon}, {"hasta", "abiertos el DAY hasta las %d:00", at(-1)}, {"después de", "abiertos el DAY después de las %d:00", after},
		{"antes de", "abiertos el DAY antes de las %d:00", before}, {"cerrados a las", "cerrados el DAY a las %d:00", notAt}, {"y media", "abiertos el DAY a las %d y media", at(30)},
	},
}

// aroundDays are small words around a weekday.
var aroundDays = map[string][]aroundTime{
	"en": {
		{"closed", "closed on DAY", shut}, {"not open", "not open on DAY", shut}, {"all day", "open all day on DAY", nobodyKnows}, {"early", "open early on DAY", nobodyKnows},
		{"after a day", "open after DAY", nobodyKnows}, {"except", "open except on DAY", nobodyKnows}, {"free", "free on DAY", nobodyKnows}, {"last", "open last DAY", nobodyKnows},
		{"holiday", "open on DAY if it is a holiday", nobodyKnows}, {"until a day", "open until DAY", nobodyKnows}, {"night", "open on DAY night", nobodyKnows}, {"every other", "open every other DAY", nobodyKnows},
		{"busy", "busy on DAY", nobodyKnows}, {"first", "open on the first DAY of the month", nobodyKnows},
	},
	"de": {{"geschlossen", "am DAY geschlossen", shut}, {"nicht", "am DAY nicht geöffnet", shut}, {"letzten", "letzten DAY geöffnet", nobodyKnows}, {"abend", "am DAY abend geöffnet", nobodyKnows}},
	"es": {{"cerrados", "cerrados el DAY", shut}, {"no", "no abiertos el DAY", shut}, {"por la noche", "abiertos el DAY por la noche", nobodyKnows}},
}

func shut(w week, day, _ int) Truth { return truth(!w.open(day, -1)) }

// times asks them at every place with a plain week.
func times(w *World, lang string) []*Question {
	var out []*Question
	locations := w.Snapshot.Publication.Profile.Locations
	for i := range locations {
		week, ok := plainWeek(locations[i].OpeningHours)
		if !ok || lang != "en" && len(locations) > 1 {
			continue
		}
		subject := map[string]string{"en": "Are you", "de": "Sind Sie", "es": "¿Están"}[lang]
		if len(locations) > 1 {
			subject = "Is " + locations[i].Name
		}
		ask := func(a aroundTime, text string, day, hour int) {
			text = strings.Replace(text, "DAY", languages[lang].days[day], 1)
			out = append(out, judged(w, "time "+a.kind, lang, subject+" "+text+"?", "", "", a.holds(week, day, hour)))
		}
		for day := range 7 {
			for _, a := range aroundDays[lang] {
				ask(a, a.text, day, 0)
			}
			for _, a := range aroundTimes[lang] {
				for _, hour := range []int{2, 8, 9, 12, 13, 14, 17, 18, 20} {
					if hour <= 12 || !strings.Contains("pm am p.m. in the evening abends de la tarde half past quarter to halb viertel nach y media", a.kind) {
						ask(a, fmt.Sprintf(a.text, hour), day, hour)
					}
				}
			}
		}
		out = append(out, stretches(w, lang, subject, week)...)
		out = append(out, dates(w, lang, subject, week)...)
	}
	return out
}

// stretches are ranges of hours and of days: open at both ends is not open all the way.
func stretches(w *World, lang, subject string, week week) []*Question {
	if lang != "en" {
		return nil
	}
	var out []*Question
	for day, name := range languages[lang].days {
		for _, hour := range []int{7, 9, 12, 13, 15, 17} {
			for _, frame := range []string{"open from %d:00 to %d:00 on DAY", "open between %d:00 and %d:00 on DAY", "open on DAY %d:00-%d:00"} {
				text := strings.Replace(fmt.Sprintf(frame, hour, hour+3), "DAY", name, 1)
				out = append(out, judged(w, "stretch of hours", lang, subject+" "+text+"?", "", "", threeHours(week, day, hour)))
			}
		}
		open := 0
		for i := range 3 {
			if week.open((day+i)%7, -1) {
				open++
			}
		}
		for _, frame := range []string{"open from %s to %s", "open %s through %s", "open between %s and %s", "open %s-%s"} {
			q := judged(w, "stretch of days", lang, subject+" "+fmt.Sprintf(frame, name, languages[lang].days[(day+2)%7])+"?", "", "", truth(open == 3))
			if open == 1 || open == 2 {
				q.Want.Polarity = "mixed"
			}
			out = append(out, q)
		}
	}
	return out
}

// dateFrames are layouts of package time; March stands for any month of the language.
var dateFrames = map[string][]string{
	"en": {
		"open on 2 January 2006", "open on January 2", "open on 2006-01-02", "open on the 2nd of January 2006", "open on Monday, 2 January 2006", "open on Monday, January 2, 2006",
	},
	"de": {"am 2. January geöffnet", "am DAYNAME, 2. January 2006 geöffnet", "am 02.01.2006 geöffnet"},
	"es": {"abiertos el 2 de January"},
}

// wrongDates name no day: 8 March 2026 is a Sunday.
var wrongDates = map[string][]string{
	"en": {
		"open on Monday 8 March 2026", "open on Monday, 8 March 2026", "open on Monday, March 8, 2026", "open on 30 February 2026", "open on 8 March 2020 and 1987", "open in March",
		"open in 2026", "open on 31 April", "open on the 8th", "open at Christmas", "open on 8 March at Easter",
	},
	"de": {"am Montag, 8. März 2026 geöffnet", "am 30. Februar geöffnet", "im März geöffnet", "an Weihnachten geöffnet"},
	"es": {"abiertos el 30 de febrero", "abiertos en marzo", "abiertos en Navidad"},
}

// dates are days of a month, right and wrong ones.
func dates(w *World, lang, subject string, week week) []*Question {
	months := map[string]string{"de": "März", "es": "marzo", "en": "March"}
	var out []*Question
	for i := range 9 {
		day := time.Date(2026, time.March, 4+i, 0, 0, 0, 0, time.UTC)
		for _, frame := range dateFrames[lang] {
			text := strings.NewReplacer("March", months[lang], "DAYNAME", languages[lang].days[day.Weekday()]).Replace(day.Format(frame))
			out = append(out, judged(w, "date "+frame, lang, subject+" "+text+"?", "", "", truth(week.open(int(day.Weekday()), -1))))
		}
	}
	for _, text := range wrongDates[lang] {
		out = append(out, judged(w, "no such date: "+text, lang, subject+" "+text+"?", "", "", Unknown))
	}
	return out
}
