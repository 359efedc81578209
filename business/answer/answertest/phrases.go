package answertest

import "strings"

// phrases are the frames of one language. {} is the place of the subject.
type phrases struct {
	exist, price, duration, stock, openOn, openAt, hours, phone, address, attribute []string
	compare                                                                         map[string][]string // of a price; N, M and U stand for numbers and unit
	length                                                                          map[string][]string // of a duration
	free, without                                                                   []string
	preposition                                                                     map[string]string // by what follows: day, place, record, term, attribute, money
	and, negation                                                                   string
	days                                                                            [7]string // Sunday first
	absent, modifier                                                                []string
	always, superlative, quantity                                                   []string // {} is the name
	otherField                                                                      []string
	currency                                                                        map[string]string
	minutes, hoursUnit                                                              string
	modifierAfter                                                                   bool
	clock                                                                           string // %s is the time
}

// split cuts a frame at the place of its subject.
func split(frame string) (before, after string) {
	before, after, _ = strings.Cut(frame, "{}")
	return before, after
}

var languages = map[string]*phrases{"en": english, "de": german, "es": spanish}

var english = &phrases{
	exist:     []string{"Do you have {}?", "Do you offer {}?", "Is there {}?"},
	price:     []string{"How much is {}?", "What does {} cost?", "What is the price of {}?", "How much does {} cost?", "Could you please tell me the price of {}?"},
	duration:  []string{"How long does {} take?", "How long is {}?"},
	stock:     []string{"Is {} in stock at PLACE?", "Are {} in stock at PLACE?"},
	openOn:    []string{"Are you open on DAY?", "Is PLACE open on DAY?"},
	openAt:    []string{"Are you open on DAY at TIME?", "Is PLACE open on DAY at TIME?"},
	hours:     []string{"What are the opening hours of PLACE?"},
	phone:     []string{"What is the phone number of PLACE?"},
	address:   []string{"What is the address of PLACE?"},
	attribute: []string{"Do you have {} with ATTR?", "Is there {} with ATTR?"},
	compare: map[string][]string{
		"lt": {"Is {} under N U?", "Is {} cheaper than N U?", "Is {} less than N U?"}, "le": {"Is {} at most N U?"}, "gt": {"Is {} over N U?", "Is {} more than N U?"},
		"ge": {"Is {} at least N U?"}, "between": {"Is {} between N and M U?"},
	},
	length: map[string][]string{
		"lt": {"Is {} less than N U?"}, "le": {"Is {} at most N U?"}, "gt": {"Does {} take more than N U?"}, "ge": {"Is {} at least N U?"}, "between": {"Is {} between N and M U?"},
	},
	free:    []string{"Is {} free?"},
	without: []string{"Do you have {} without ATTR?"},
	preposition: map[string]string{
		"day": "on", "place": "at", "record": "with", "term": "for", "attribute": "with", "money": "under",
	},
	and: " and ", negation: "Don't you have {}?",
	days: [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	absent: strings.Split("unicorn rides|helicopter lessons|tattoos|quantum computers|llama trekking|scuba diving|welding courses|piano tuning|wedding dresses|telescopes|bee hives|"+
		"submarines|fireworks|passport photos|currency exchange|horse saddles|violins|beard trimming|chimney sweeping|mushrooms|a planetarium|ice sculptures|kayaks|"+
		"tarot readings|archery|candle making|typewriters|snow ploughs|origami|goldfish|chainsaw juggling|pottery|yachts|trampolines|a crematorium", "|"),
	modifier:    []string{"underwater", "vegan", "haunted", "velvet", "overnight"},
	always:      []string{"Do you still have {}?", "Do you always have {}?", "Do you only have {}?", "Do you have every {}?", "Do you no longer have {}?", "Do you have {} together?", "Do you have {} again?"},
	superlative: []string{"How much is the cheapest {}?", "Do you have the best {}?", "Which {} is the most popular?"},
	quantity:    []string{"How much are four {}?", "How much are 6 packs of {}?", "Do you have 12 {}?"},
	otherField:  []string{"What colour is {}?", "How heavy is {}?", "Who invented {}?", "What is the warranty of {}?", "Why is {} popular?"},
	currency:    map[string]string{"EUR": "EUR", "GBP": "GBP", "USD": "USD"},
	minutes:     "minutes", hoursUnit: "hours", clock: "%s",
}

var german = &phrases{
	exist:     []string{"Haben Sie {}?", "Gibt es {}?", "Bieten Sie {} an?"},
	price:     []string{"Was kostet {}?", "Wie viel kostet {}?", "Wie hoch ist der Preis von {}?"},
	duration:  []string{"Wie lange dauert {}?"},
	openOn:    []string{"Haben Sie am DAY geöffnet?", "Ist PLACE am DAY geöffnet?"},
	openAt:    []string{"Haben Sie am DAY um TIME geöffnet?", "Ist PLACE am DAY um TIME geöffnet?"},
	hours:     []string{"Was sind die Öffnungszeiten von PLACE?"},
	phone:     []string{"Wie ist die Telefonnummer von PLACE?"},
	address:   []string{"Wie ist die Adresse von PLACE?"},
	attribute: []string{"Haben Sie {} mit ATTR?", "Gibt es {} mit ATTR?"},
	compare: map[string][]string{
		"lt": {"Ist {} unter N U?", "Ist {} günstiger als N U?"}, "le": {"Kostet {} höchstens N U?"}, "gt": {"Ist {} über N U?"}, "ge": {"Kostet {} mindestens N U?"},
		"between": {"Ist {} zwischen N und M U?"},
	},
	length: map[string][]string{"lt": {"Dauert {} weniger als N U?"}, "ge": {"Dauert {} mindestens N U?"}, "gt": {"Dauert {} mehr als N U?"}, "le": {"Dauert {} höchstens N U?"}},
	free:   []string{"Ist {} kostenlos?"}, without: []string{"Haben Sie {} ohne ATTR?"},
	preposition: map[string]string{"day": "am", "place": "in", "record": "mit", "term": "für", "attribute": "mit", "money": "unter"},
	and:         " und ", negation: "Haben Sie nicht {}?",
	days: [7]string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
	absent: strings.Split("Einhörner|Hubschrauberflüge|Tätowierungen|Quantencomputer|Lamawanderungen|Tauchkurse|Schweißkurse|Brautkleider|Teleskope|Bienenstöcke|Feuerwerk|Passfotos|"+
		"Sättel|Geigen|Bartpflege|Pilze|ein Planetarium|Eisskulpturen|Kajaks|Bogenschießen|Schreibmaschinen|Schneepflüge|Goldfische|Töpferkurse|Jachten|Trampoline", "|"),
	modifier:    []string{"unterirdisches", "veganes", "verfluchtes", "hölzernes"},
	always:      []string{"Haben Sie noch {}?", "Haben Sie immer {}?", "Haben Sie nur {}?", "Haben Sie nicht mehr {}?", "Haben Sie wieder {}?"},
	superlative: []string{"Was kostet das günstigste {}?", "Haben Sie das beste {}?"},
	quantity:    []string{"Was kosten vier {}?", "Haben Sie 12 {}?"},
	otherField:  []string{"Welche Farbe hat {}?", "Wie schwer ist {}?", "Wer erfand {}?", "Warum ist {} beliebt?"},
	currency:    map[string]string{"EUR": "Euro", "GBP": "Pfund", "USD": "Dollar"},
	minutes:     "Minuten", hoursUnit: "Stunden", clock: "%s Uhr",
}

var spanish = &phrases{
	exist:     []string{"¿Tienen {}?", "¿Ofrecen {}?", "¿Hay {}?"},
	price:     []string{"¿Cuánto cuesta {}?", "¿Cuál es el precio de {}?"},
	duration:  []string{"¿Cuánto dura {}?"},
	openOn:    []string{"¿Abren el DAY?"},
	openAt:    []string{"¿Abren el DAY a las TIME?"},
	hours:     []string{"¿Cuál es el horario de PLACE?"},
	phone:     []string{"¿Cuál es el teléfono de PLACE?"},
	address:   []string{"¿Cuál es la dirección de PLACE?"},
	attribute: []string{"¿Tienen {} con ATTR?"},
	compare: map[string][]string{
		"lt": {"¿Cuesta {} menos de N U?"}, "le": {"¿Cuesta {} como máximo N U?"}, "gt": {"¿Cuesta {} más de N U?"}, "ge": {"¿Cuesta {} al menos N U?"},
		"between": {"¿Cuesta {} entre N y M U?"},
	},
	length: map[string][]string{"lt": {"¿Dura {} menos de N U?"}, "ge": {"¿Dura {} al menos N U?"}, "gt": {"¿Dura {} más de N U?"}},
	free:   []string{"¿Es gratis {}?"}, without: []string{"¿Tienen {} sin ATTR?"},
	preposition: map[string]string{"day": "el", "place": "en", "record": "con", "term": "para", "attribute": "con", "money": "por menos de"},
	and:         " y ", negation: "¿No tienen {}?",
	days: [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
	absent: strings.Split("unicornios|helicópteros|tatuajes|ordenadores cuánticos|paseos con llamas|buceo|soldadura|vestidos de novia|telescopios|colmenas|fuegos artificiales|"+
		"sillas de montar|violines|setas|un planetario|esculturas de hielo|kayaks|tiro con arco|velas aromáticas|quitanieves|peces de colores|alfarería|yates", "|"),
	modifier:    []string{"submarina", "vegana", "embrujada"},
	always:      []string{"¿Todavía tienen {}?", "¿Siempre tienen {}?", "¿Solo tienen {}?", "¿Ya no tienen {}?"},
	superlative: []string{"¿Cuánto cuesta {} más barata?", "¿Tienen la mejor {}?"},
	quantity:    []string{"¿Cuánto cuestan cuatro {}?", "¿Tienen 12 {}?"},
	otherField:  []string{"¿De qué color es {}?", "¿Cuánto pesa {}?", "¿Quién inventó {}?", "¿Por qué es popular {}?"},
	currency:    map[string]string{"EUR": "euros", "GBP": "libras", "USD": "dólares"},
	minutes:     "minutos", hoursUnit: "horas", modifierAfter: true, clock: "%s",
}
