package answertest_test

import "sayso/business/coverage"

type reading struct {
	pub, lang, q string
	status       coverage.Status
	polarity     string
}

// readings are questions made of words that are all understood, by what tells them apart.
var readings = map[string][]reading{
	"what something is": {
		{"hotel", "en", "Are the rooms double?", coverage.Partial, ""},
		{"hotel", "en", "Is the room a double?", coverage.Partial, ""},
		{"hotel", "en", "Are you a massage?", coverage.Partial, ""},
		{"hardware", "en", "Is the drill cordless?", coverage.NotCovered, ""},
		{"optician", "en", "Are contact lenses daily?", coverage.NotCovered, ""},
		{"optician", "en", "Is the eye an exam?", coverage.Partial, ""},
		{"dentist", "en", "Is the home whitening?", coverage.Partial, ""},
		{"dentist", "es", "¿Es usted la limpieza?", coverage.Partial, ""},
		{"optician", "en", "How much is the exam of an eye?", coverage.Resolved, ""},
		{"optician", "en", "Is the exam of the eye under 40 GBP?", coverage.Resolved, "positive"},
	},
	"what a preposition narrows": {
		{"garage", "en", "Do you have a change of oil?", coverage.Resolved, "positive"},
		{"garage", "en", "Do you have oil of a change?", coverage.Partial, ""},
		{"optician", "en", "How much is the eye of the exam?", coverage.NeedsContext, ""},
	},
	"a noun in the place of a verb": {
		{"hardware", "en", "Do you screw wood?", coverage.NotCovered, ""},
		{"dentist", "en", "Do you check kids up?", coverage.Partial, ""},
		{"optician", "en", "Do you repair glasses?", coverage.Resolved, "positive"},
		{"garage", "en", "Do you change tyres?", coverage.Resolved, "positive"},
	},
	"what the caller may do": {
		{"hardware", "en", "Can I sell you a cordless drill?", coverage.Partial, ""},
		{"hardware", "en", "Can I offer you nuts and bolts?", coverage.Partial, ""},
		{"hardware", "en", "Can I open a store in Harbour?", coverage.Partial, ""},
		{"hotel", "en", "Can we provide massage for you?", coverage.Partial, ""},
		{"hotel", "de", "Kann ich Ihnen eine Massage anbieten?", coverage.Partial, ""},
		{"dentist", "es", "¿Puedo ofrecer una limpieza dental?", coverage.Partial, ""},
		{"garage", "en", "Can I change tyres?", coverage.Partial, ""},
		{"garage", "en", "Can I service Audi?", coverage.Partial, ""},
		{"hardware", "en", "Can I get a cordless drill?", coverage.Resolved, "positive"},
		{"hotel", "de", "Kann ich bei euch eine Massage haben?", coverage.Resolved, "positive"},
	},
	"the past": {
		{"hardware", "en", "You had a cordless drill?", coverage.Partial, ""},
		{"hardware", "en", "Had you delivery?", coverage.Partial, ""},
	},
	"the moment at which a place opens": {
		{"hardware", "en", "Does Northgate open at 9:00 on Monday?", coverage.Partial, ""},
		{"hardware", "en", "Does Northgate open at 8:00 on Monday?", coverage.Resolved, "positive"},
		{"hardware", "en", "Does Northgate open at 7:00 on Monday?", coverage.Resolved, "negative"},
		{"hardware", "en", "Is Northgate open at 9:00 on Monday?", coverage.Resolved, "positive"},
		{"hardware", "en", "Do you shut at 21:00 on Monday at Northgate?", coverage.Partial, ""},
		{"hardware", "en", "Do you shut at 20:00 on Monday at Northgate?", coverage.Resolved, "positive"},
		{"dentist", "es", "¿Abren los viernes a las 10:00?", coverage.Partial, ""},
		{"dentist", "es", "¿Abren los viernes a las 9:00?", coverage.Resolved, "positive"},
		{"dentist", "es", "¿Está abierto los viernes a las 10:00?", coverage.Resolved, "positive"},
		{"markets", "de", "Öffnet der Siegfriedmarkt am Mittwoch um 9 Uhr?", coverage.Partial, ""},
		{"markets", "de", "Öffnet der Siegfriedmarkt am Mittwoch um 7 Uhr?", coverage.Resolved, "positive"},
	},
	"two states of one time and place": {
		{"hardware", "en", "Is Northgate open or closed on Sunday?", coverage.Resolved, "mixed"},
		{"hardware", "en", "Is Northgate open on Sunday or closed?", coverage.Resolved, "mixed"},
		{"hardware", "en", "Is Harbour open on Friday and closed on Saturday?", coverage.Resolved, "positive"},
		{"hardware", "en", "Do you deliver and open on Sunday?", coverage.Partial, ""},
	},
	"all of a type and one of it": {
		{"hotel", "en", "Do your rooms have breakfast?", coverage.NeedsContext, ""},
		{"hotel", "en", "Do rooms have breakfast?", coverage.NeedsContext, ""},
		{"hotel", "de", "Haben die Zimmer Frühstück?", coverage.NeedsContext, ""},
		{"hotel", "en", "Do the hotel rooms have breakfast?", coverage.NeedsContext, ""},
		{"hotel", "en", "Do any rooms have breakfast?", coverage.Resolved, "positive"},
		{"hotel", "en", "Do you have rooms with breakfast?", coverage.Resolved, "positive"},
		{"hotel", "de", "Haben Sie Zimmer mit Frühstück?", coverage.Resolved, "positive"},
		{"hotel", "en", "Do you have a room with breakfast and under 100 euros?", coverage.Partial, ""},
	},
	"bounds in the wrong order": {
		{"hotel", "en", "Is the double room between 150 and 100 euros?", coverage.Partial, ""},
		{"hotel", "en", "Is the double room between 100 and 150 euros?", coverage.Resolved, "positive"},
	},
	"the category as the business": {
		{"hotel", "en", "Does the hotel have a pool?", coverage.Resolved, "negative"},
		{"hotel", "en", "Is there a pool at the hotel?", coverage.Resolved, "negative"},
		{"hotel", "de", "Gibt es im Hotel eine Sauna?", coverage.Resolved, "positive"},
		{"dentist", "es", "¿Tiene urgencias la clínica dental?", coverage.Resolved, "positive"},
		{"dentist", "es", "¿Venden empastes al dentista?", coverage.Partial, ""},
		{"dentist", "en", "Does the dentist take Mapfre insurance?", coverage.Resolved, "negative"},
		{"markets", "de", "Ist der Markt in Hanau am Mittwoch geöffnet?", coverage.Resolved, "positive"},
		{"hotel", "en", "Do you have the hotel with pool?", coverage.Partial, ""},
		{"hotel", "en", "Is there a pool for the hotel?", coverage.Partial, ""},
		{"hotel", "en", "Is there parking near the hotel?", coverage.Partial, ""},
		{"hotel", "en", "Does the other hotel have a sauna?", coverage.Partial, ""},
		{"hotel", "en", "Does the hotel next door have a sauna?", coverage.Partial, ""},
		{"hotel", "en", "Which hotel has a sauna?", coverage.Partial, ""},
		{"hotel", "en", "Do the hotels have a sauna?", coverage.Partial, ""},
		{"hotel", "en", "Is the hotel bar open on Sunday?", coverage.Partial, ""},
		{"hotel", "de", "Habt ihr das Hotel mit Sauna?", coverage.Partial, ""},
		{"hotel", "en", "the hotel", coverage.NotCovered, ""},
	},
}
