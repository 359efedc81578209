package jcsoracle

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"sayso/jcs"
	"sayso/oracle/tools"
	"sayso/vectors"
)

// TestNode compares canonical text with a JavaScript engine: RFC 8785 is defined by what such an engine does.
func TestNode(t *testing.T) {
	node := tools.Node(t)
	random := rand.New(rand.NewPCG(8785, 3))
	var texts, want [][]byte
	add := func(text []byte) {
		if canonical, err := jcs.Canonical(text); err == nil {
			texts, want = append(texts, text), append(want, canonical)
		}
	}
	for _, v := range vectors.Claims() {
		add([]byte(v.Claim))
	}
	for range 3_000 {
		add(appendTree(nil, random, 4))
	}
	for range 30_000 {
		if f := math.Float64frombits(random.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			texts = append(texts, strconv.AppendFloat(nil, f, 'e', 20, 64))
			want = append(want, jcs.AppendNumber(nil, f))
		}
	}
	cmd := exec.Command(node, "canonical.mjs")
	cmd.Stdin = bytes.NewReader(bytes.Join(texts, []byte("\n")))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s:\n ours %s\n node %s", texts[i], want[i], got[i])
		}
	}
}
