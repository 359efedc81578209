package dataset_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sayso/facts/dataset"
	"sayso/report"
)

// FuzzLoadTopic: no topic file crashes the loader or lint, and a file without findings is written and read again as the same facts.
func FuzzLoadTopic(f *testing.F) {
	for _, pattern := range []string{"testdata/sample/topics/*/*.yaml", "testdata/lint/*/*/topics/zz/*.yaml"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Add(candidateFile)
	publisher, err := os.ReadFile("testdata/sample/publisher.yaml")
	if err != nil {
		f.Fatal(err)
	}
	now := day(f, today)
	f.Fuzz(func(t *testing.T, topic string) {
		folder, r := dataset.Load(memory(map[string]string{"publisher.yaml": string(publisher), "topics/t.yaml": topic}))
		for _, finding := range dataset.Lint(folder, now).Findings {
			if finding.Outcome == report.Fail && (finding.Place == "" || finding.Next == "") {
				t.Errorf("a finding without place or next step: %+v", finding)
			}
		}
		if r.Failed() {
			return
		}
		again := dataset.AppendTopic(nil, &folder.Topics[0])
		second, r := dataset.Load(memory(map[string]string{"publisher.yaml": string(publisher), "topics/t.yaml": string(again)}))
		if r.Failed() {
			t.Fatalf("%s\nis written as\n%s\nwhich does not load: %s", topic, again, list(r, report.Fail))
		}
		if a, b := plain(folder.Topics[0]), plain(second.Topics[0]); !reflect.DeepEqual(a, b) {
			t.Errorf("%s\nis written as\n%s", topic, again)
		}
	})
}

// plain is a topic without positions.
func plain(t dataset.Topic) dataset.Topic {
	t.At = dataset.Position{}
	for i := range t.Synonyms {
		t.Synonyms[i].At = dataset.Position{}
	}
	for i := range t.Facts {
		f := &t.Facts[i]
		f.At, f.PreviousAt = dataset.Position{}, dataset.Position{}
		for j := range f.Values {
			f.Values[j].At, f.Values[j].Place, f.Values[j].Literal = dataset.Places{}, "", ""
		}
	}
	return t
}
