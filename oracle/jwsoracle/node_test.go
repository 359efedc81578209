package jwsoracle

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sayso/jwk"
	"sayso/jws"
	"sayso/oracle/tools"
	"sayso/vectors"
)

// TestNode verifies fresh signatures and the vectors that are about the signature alone with Node's own Ed25519.
func TestNode(t *testing.T) {
	node := tools.Node(t)
	type question struct {
		JWS     string `json:"jws"`
		Payload string `json:"payload"`
		X       string `json:"x"`
	}
	var in bytes.Buffer
	var names, want []string
	ask := func(name string, q question, holds bool) {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
		names, want = append(names, name), append(want, map[bool]string{true: "true", false: "false"}[holds])
	}
	for _, payload := range []string{"", `{"a":1}`, "\u20ac\U0001F600"} {
		key := newKey(t)
		q := question{jws.SignDetached(key, []byte(payload)), payload, jwk.EncodeBase64URL(key.Public().Public)}
		ask("fresh over "+payload, q, true)
		q.Payload += " "
		ask("fresh over another payload", q, false)
	}
	for _, v := range vectors.JWS() {
		if v.Name == "small-order R" {
			continue // RFC 8032 leaves it open, and Node decides by the OpenSSL it was built with
		}
		if v.Class == vectors.Valid || v.Class == string(jws.Wrong) {
			ask(v.Name, question{v.JWS, v.Payload, v.X}, v.Class == vectors.Valid)
		}
	}
	cmd := exec.Command(node, "verify.mjs")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: node says %s, want %s", names[i], got[i], want[i])
		}
	}
}
