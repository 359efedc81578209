package business_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// A query asks every publisher for its category. A long schema is read when the publication is prepared, not for each stranger who asks: comparing takes a
// small part of the time that reading takes.
func TestAPreparedPublicationIsNotReadByQueries(t *testing.T) {
	var schema bytes.Buffer
	schema.WriteString(`{"attributes":{`)
	for i := range 5000 {
		fmt.Fprintf(&schema, `"a%d":{"kind":"text"},`, i)
	}
	schema.WriteString(`"z":{"kind":"text"}},"category":{"words":{"en":["optician"]}}}`)
	p := &business.Publication{
		Slug: "shop", Profile: business.Profile{DisplayName: "Shop"}, Schema: jcs.Raw(schema.Bytes()),
		Standing: business.Standing{Lifecycle: business.Published, Verification: &business.OperatorVerification{ConfirmedAt: time.Unix(1, 0)}},
	}
	q, err := business.ParseQuery(map[string][]string{"category": {"opticians"}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() time.Duration {
		began := time.Now()
		answer := q.Answer(business.Site{Origin: "https://registry.example"}, []*business.Publication{p}, time.Now())
		if len(answer.Results) != 1 {
			t.Fatalf("%+v", answer)
		}
		return time.Since(began)
	}
	unprepared := min(ask(), ask(), ask())
	p.Prepare()
	if prepared := min(ask(), ask(), ask()); prepared > unprepared/5 {
		t.Errorf("a prepared publication takes %v, one that is read each time %v", prepared, unprepared)
	}
}
