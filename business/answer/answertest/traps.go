package answertest

import (
	"fmt"
	"math/big"
	"strings"
)

// Traps makes G12: questions of which every word but a small one is understood, so that an engine that drops the small one answers something else. Frames
// that ask about a known thing what nobody published are never resolved; where the small word turns the question around, the polarity is judged.
func Traps(w *World) []*Question {
	var out []*Question
	for _, lang := range w.Snapshot.Publication.Profile.ContentLanguages {
		out = append(out, otherFrames(w, lang)...)
		out = append(out, turned(w, lang)...)
		out = append(out, times(w, lang)...)
	}
	return append(out, amounts(w)...)
}

// frames that ask something else, by language and shape of the subject.
var otherwise = map[string]map[string]string{
	"en": {
		"record": `Must I have {}?|Should I have {}?|Do I need {}?|Did you have {}?|When do you have {}?|Where do you have {}?|Why do you have {}?|Who has {}?|How do I get {}?|How often is {}?|
How good is {}?|How old is {}?|How many {} do you have?|How big is {}?|When is {}?|Is {} safe?|Can I cancel {}?|Can I return {}?|Do you recommend {}?|Do your competitors have {}?|Is my {} ready?|
Have you had {} before?|Would {} hurt?|Is there anything like {}?|Is there something better than {}?|Do you have more {}?|Do you have enough {}?|Do you have another {}?|Do you have several {}?|
How much {} do you have?|How much of {} is plastic?|How much longer does {} take?|How much more is {}?|How much was {}?|How much will {} be next year?|How long is {} valid?|
How long have you had {}?|How long until {}?|What does {} include?|What comes with {}?|What happens after {}?|Is {} open?|Is {} open on Saturday?|Are you open for {}?|Is {} closed on Sunday?|
Is {} cheap?|Is {} cheaper?|Is {} cheaper than before?|Is {} free on Saturday?|Do you have anything but {}?|Do you have everything except {}?|Do you have {} elsewhere?|Do you have {} now?|
Do you have {} today?|Do you have {} tomorrow?|Do you have {} at night?|Do you have {} in summer?|Do you have {} since 2019?|Do you have {} until Friday?|Did the price of {} change?|
Is the price of {} fair?|What was the price of {} in 2019?|How much is {} for children?|How much is {} with a discount?|How much is {} without tax?|How much is {} including tax?|
How much is {} per hour?|How much is {} at most?|How much is {} in dollars?|How much is {} exactly?|How much is {} on average?|What is the phone number of {}?|What are the opening hours of {}?|
What is the address of {}?|Where is {}?|Is {} nearest?|Is {} under 40?|Is {} under 40 kg?|Is {} under 50 percent?|Is {} about 40 EUR?|Is {} half price?|Do you have cheap {}?|Do you have {} twice?|
Do you have used {}?|Do you have {} online?|Is {} better than nothing?|Is {} not good?|Is {} two for one?|Do you buy {}?|Do you do {} at home?`,
		"attribute": `Must I have {}?|Do I need {}?|Did you have {}?|When do you have {}?|Why do you have {}?|Who has {}?|How good is {}?|How big is {}?|How much is {}?|How long is {}?|When is {}?|
What does {} cost?|Is {} free?|Is {} open on Saturday?|Is {} under 10 EUR?|Do you have {} now?|Do you have {} at night?|Do you have {} nearby?|Do you have enough {}?|Do you have more {}?|
Do you have cheap {}?|Do you charge for {}?|Is {} safe?|Do your competitors have {}?|Do you have {} elsewhere?|How many {} do you have?|How far is {}?|Do you have {} since 2019?|
Do you have {} until Friday?|What are the opening hours of {}?|Is {} better than nothing?|Do you have anything but {}?|Is there {} for children?|Is {} in stock?`,
		"term": `Do you have {}?|Do you sell {}?|Do you prefer {}?|Did you take {}?|Do you refuse {}?|Why do you take {}?|Do you take {} on Saturday?|How much is {}?|Do you take {} only?|
Do you always take {}?|Do you take {} from tourists?|Must I have {}?|Do you take {} under 10 EUR?|Do you take everything except {}?|Do you buy {}?|How long does {} take?`,
		"place": `Do you have {}?|How much is {}?|How long does {} take?|Is {} bigger?|What was the phone number of {}?|What is the phone number of {} on Saturday?|What is the email of {}?|
What is the fax number of {}?|What is the address of {} at 10:00?|Who works at {}?|Is {} free on Saturday?|Was {} open on Saturday?|Is {} always open on Saturday?|Is {} open on Saturday evening?|
Is {} open every Saturday?|Is {} crowded on Saturday?|Why is {} open on Saturday?|Is {} still open on Saturday?|Is {} the cheapest?|Is {} open on Saturday for children?`,
	},
	"de": {
		"record": `Brauche ich {}?|Muss ich {} haben?|Hatten Sie {}?|Wann gibt es {}?|Warum haben Sie {}?|Wer hat {}?|Wie gut ist {}?|Wie alt ist {}?|Wie viele {} haben Sie?|Wie groß ist {}?|Wann ist {}?|
Ist {} sicher?|Haben Sie mehr {}?|Haben Sie genug {}?|Was kostete {}?|Was kostet {} pro Stunde?|Was kostet {} für Kinder?|Was kostet {} ohne Steuer?|Was kostet {} mit Rabatt?|Ist {} geöffnet?|
Ist {} am Samstag geöffnet?|Ist {} billig?|Ist {} günstiger?|Haben Sie {} heute?|Haben Sie {} im Sommer?|Haben Sie {} bis Freitag?|Haben Sie alles außer {}?|Haben Sie {} woanders?|
Wie ist die Telefonnummer von {}?|Was sind die Öffnungszeiten von {}?|Ist {} unter 40?|Ist {} unter 40 kg?|Haben Sie gebrauchte {}?|Kaufen Sie {}?|Wie lange gilt {}?|Was beinhaltet {}?|Ab wann gibt es {}?`,
		"attribute": `Brauche ich {}?|Hatten Sie {}?|Wann gibt es {}?|Warum haben Sie {}?|Wie groß ist {}?|Was kostet {}?|Wie lange dauert {}?|Ist {} kostenlos?|Ist {} am Samstag geöffnet?|
Ist {} unter 10 Euro?|Haben Sie {} heute?|Haben Sie {} in der Nähe?|Haben Sie mehr {}?|Haben Sie {} für Kinder?|Haben Sie {} im Doppelzimmer?|Wie weit ist {}?|Was sind die Öffnungszeiten von {}?`,
	},
	"es": {
		"record": `¿Necesito {}?|¿Tenían {}?|¿Cuándo tienen {}?|¿Por qué tienen {}?|¿Quién tiene {}?|¿Qué tan buena es {}?|¿Cuántas {} tienen?|¿Cuándo es {}?|¿Es segura {}?|¿Tienen más {}?|
¿Cuánto costaba {}?|¿Cuánto cuesta {} por hora?|¿Cuánto cuesta {} para niños?|¿Cuánto cuesta {} sin impuestos?|¿Cuánto cuesta {} con descuento?|¿Tienen {} hoy?|¿Tienen {} en verano?|
¿Tienen {} hasta el viernes?|¿Tienen todo menos {}?|¿Cuál es el teléfono de {}?|¿Cuál es el horario de {}?|¿Es barata {}?|¿Duele {}?|¿Qué incluye {}?|¿Cuesta {} menos de 40?|¿Cuesta {} menos de 40 kg?`,
		"attribute": `¿Necesito {}?|¿Tenían {}?|¿Cuándo tienen {}?|¿Por qué tienen {}?|¿Cuánto cuesta {}?|¿Cuánto dura {}?|¿Es gratis {}?|¿Cuesta {} menos de 10 euros?|¿Tienen {} hoy?|¿Tienen {} el sábado?|
¿Tienen {} para niños?|¿Tienen más {}?`,
	},
}

// otherFrames puts every known thing into them. What a record really publishes under the words of a frame is left to the other generators.
func otherFrames(w *World, lang string) []*Question {
	var out []*Question
	pieces := piecesOf(w, lang)
	for _, kind := range sorted(otherwise[lang]) {
		for _, p := range pieces[kind] {
			for frame := range strings.SplitSeq(otherwise[lang][kind], "|") {
				before, after := split(strings.TrimSpace(frame))
				out = append(out, judged(w, kind+" in "+strings.TrimSpace(frame), lang, before, p.text, after, Unknown))
			}
		}
	}
	return out
}

// judged makes a question whose polarity alone is judged.
func judged(w *World, kind, lang, before, entity, after string, t Truth) *Question {
	q := &Question{World: w, Gen: "G12", Kind: kind, Lang: lang, Before: before, Entity: entity, After: after, Want: Want{Rule: Open, Polarity: t.polarity()}, tell: lang != "en"}
	if t == Unknown {
		q.Want = Want{Rule: Never}
	}
	return q
}

// besideStock are questions about stock that the present count at one place does not answer.
var besideStock = []string{
	"Are 5 {} in stock at PLACE?", "Is {} in stock at PLACE tomorrow?", "Was {} in stock at PLACE?", "Will {} be in stock at PLACE?", "Is {} always in stock at PLACE?",
	"Is {} in stock at PLACE on Saturday?", "Is {} in stock near PLACE?", "Is {} in stock except at PLACE?", "How long is {} in stock at PLACE?", "Why is {} in stock at PLACE?",
}

// turned are questions that a negation turns around: of booleans of records, of comparisons, of stock.
func turned(w *World, lang string) []*Question {
	if lang != "en" {
		return nil
	}
	var out []*Question
	for _, it := range items(w) {
		if it.lang != lang {
			continue
		}
		for _, a := range recordWords(w) {
			if a.lang != lang {
				continue
			}
			t := boolOf(it.record, a.key)
			for _, frame := range []string{"Do you have {} with no ATTR?", "Is there {} that has no ATTR?", "Is ATTR not in {}?"} {
				before, after := split(strings.ReplaceAll(frame, "ATTR", a.name))
				out = append(out, judged(w, "record x negated "+frame, lang, before, it.name, after, t.not()))
			}
			for _, frame := range []string{"Does {} not have ATTR?", "Doesn't {} have ATTR?"} { // a negated verb does not turn the fact around
				before, after := split(strings.ReplaceAll(frame, "ATTR", a.name))
				out = append(out, judged(w, "record x negated "+frame, lang, before, it.name, after, t))
			}
		}
		if set, _, _ := priceOf(w, it.record); set != nil {
			unit := w.Schema.Attributes["price"].Currency
			for _, n := range []int64{1, 100_000} {
				t := set.Compare("lt", big.NewRat(n, 1), nil).not()
				out = append(out, judged(w, "negated comparison", lang, "Is ", it.name, fmt.Sprintf(" not under %d %s?", n, unit), t))
			}
		}
		for _, at := range w.Snapshot.Publication.Profile.Locations {
			v := scoped(it.record, "stock", at.ID)
			if v == "" {
				continue
			}
			none := truth(v == "0")
			for _, frame := range []string{"Is {} out of stock at PLACE?", "Is {} not in stock at PLACE?"} {
				before, after := split(strings.Replace(frame, "PLACE", at.Name, 1))
				out = append(out, judged(w, "negated stock", lang, before, it.name, after, none))
			}
			for _, frame := range besideStock {
				before, after := split(strings.Replace(frame, "PLACE", at.Name, 1))
				out = append(out, judged(w, "stock and "+frame, lang, before, it.name, after, Unknown))
			}
		}
	}
	return out
}
