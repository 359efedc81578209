package answer_test

import (
	"testing"

	"sayso/business/answer"
	"sayso/business/answer/answertest"
	"sayso/business/coverage"
	"sayso/jcs"
)

// Three more publishers with words of their own: a restaurant with menus and a closed list of allergens, a car rental with prices from and cars at some depots, a
// clinic whose records are doctors. What nobody published is not resolved there either, and what is resolved has the polarity of the fact.
func TestVocabularies(t *testing.T) {
	type row struct {
		lang, q  string
		status   coverage.Status
		polarity string
	}
	for slug, rows := range map[string][]row{
		"bistrot-des-halles": {
			{"fr", "Combien coûte le menu du jour ?", coverage.Resolved, ""},
			{"fr", "Combien coûte le menu du jour le dimanche ?", coverage.Partial, ""},
			{"fr", "Vendez-vous une terrasse ?", coverage.Partial, ""},
			{"fr", "Êtes-vous sur la terrasse ?", coverage.Partial, ""},
			{"fr", "N'avez-vous pas de terrasse ?", coverage.Resolved, "positive"},
			{"fr", "Vous n'acceptez pas les chèques ?", coverage.Resolved, "negative"},
			{"fr", "Acceptez-vous les espèces mais pas la carte ?", coverage.Partial, ""},
			{"fr", "Puis-je payer sans carte ?", coverage.Partial, ""},
			{"fr", "Puis-je payer en liquide ?", coverage.Resolved, "positive"},
			{"fr", "Payez-vous en liquide ?", coverage.Partial, ""},
			{"fr", "Avez-vous un menu du jour pas végétarien ?", coverage.Partial, ""},
			{"fr", "Y a-t-il du lait dans la soupe à l'oignon ?", coverage.Partial, ""},
			{"fr", "Pourriez-vous avoir du wifi ?", coverage.Partial, ""},
			{"fr", "La Gare est-elle ouverte lundi pour 19h ?", coverage.Partial, ""},
			{"fr", "La Gare est-elle ouverte lundi à 19h ?", coverage.Resolved, "positive"},
			{"en", "Do you cook with peanuts?", coverage.Resolved, "negative"},
			{"en", "Do you cook without gluten?", coverage.Partial, ""},
		},
		"autoverleih-nordwind": {
			{"de", "Ist der Kombi in Hamburg verfügbar?", coverage.Resolved, "positive"},
			{"de", "Ist der Kleinwagen in Kiel verfügbar?", coverage.Resolved, "negative"},
			{"de", "Ist der Kombi in Kiel verfügbar?", coverage.Partial, ""},
			{"de", "Gibt es den Kleinwagen für Kiel?", coverage.Partial, ""},
			{"de", "Haben Sie meinen Kombi?", coverage.Partial, ""},
			{"de", "Ist der Kombi verkauft?", coverage.Partial, ""},
			{"de", "Verkaufen Sie Parkplätze?", coverage.Partial, ""},
			{"de", "Sind Sie ein Parkplatz?", coverage.Partial, ""},
			{"de", "Wird der Kombi eine Klimaanlage haben?", coverage.Partial, ""},
			{"de", "Hat der Kombi eine Klimaanlage?", coverage.Resolved, "positive"},
			{"de", "Haben Sie keine Einwegmiete?", coverage.Resolved, "negative"},
			{"de", "Nehmen Sie kein Visa?", coverage.Resolved, "positive"},
			{"de", "Kann ich ohne Visa zahlen?", coverage.Partial, ""},
			{"de", "Zahlen Sie mit Visa?", coverage.Partial, ""},
			{"de", "Kann ich mit Visa zahlen?", coverage.Resolved, "positive"},
			{"de", "Kostet der Kombi mehr als 40 Euro am Tag?", coverage.Partial, ""},
			{"de", "Können Sie am Sonntag in Hamburg öffnen?", coverage.Partial, ""},
			{"de", "Ist Hamburg am 3.3.2020 geöffnet?", coverage.Partial, ""},
		},
		"clinica-del-sol": {
			{"es", "¿Está disponible la pediatra en Triana?", coverage.Resolved, "negative"},
			{"es", "¿Está disponible la pediatra en Centro mañana?", coverage.Partial, ""},
			{"es", "¿Venden aparcamiento?", coverage.Partial, ""},
			{"es", "¿Está en el ascensor?", coverage.Partial, ""},
			{"es", "¿No tienen urgencias?", coverage.Resolved, "negative"},
			{"es", "¿No aceptan el seguro Sanitas?", coverage.Resolved, "negative"},
			{"es", "¿Puedo aceptar el seguro Adeslas?", coverage.Partial, ""},
			{"es", "¿Puedo pagar sin efectivo?", coverage.Partial, ""},
			{"es", "¿Abren para las 9:00 el lunes en Triana?", coverage.Partial, ""},
			{"es", "¿Cuánto cuesta la dermatóloga con Adeslas?", coverage.Partial, ""},
			{"es", "¿Hay una prueba en menos de 20 minutos?", coverage.NotCovered, ""},
		},
	} {
		c, err := answer.Compile(published(t, slug))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			args, err := jcs.Encode(map[string]string{"query": r.q, "language": r.lang})
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: args, Now: answertest.Now}, nil)
			if err != nil {
				t.Errorf("%s: %q: %v", slug, r.q, err)
				continue
			}
			if status, polarity := out.Coverage.Status, answertest.Polarity(out); status != r.status || status == coverage.Resolved && polarity != r.polarity {
				t.Errorf("%s: %q: %s %s, want %s %s", slug, r.q, status, polarity, r.status, r.polarity)
			}
		}
	}
}
