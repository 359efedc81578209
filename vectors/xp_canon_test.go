package vectors_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"sayso/vectors"
)

func TestCanonXP(t *testing.T) {
	classes := map[string]int{}
	for _, v := range vectors.CanonsXP() {
		classes[v.Class]++
		sum := sha256.Sum256([]byte(v.Canonical))
		digest := base64.RawURLEncoding.EncodeToString(sum[:])
		if v.Class != vectors.Valid {
			digest = ""
		}
		if v.Digest != digest || (v.Canonical != "") != (v.Class == vectors.Valid) || v.Text != "" && v.Hex != "" {
			t.Errorf("%s: digest %q, want %q", v.Name, v.Digest, digest)
		}
		_ = v.Input()
	}
	if len(classes) != 6 || classes[vectors.Valid] < 13 {
		t.Errorf("classes %v", classes)
	}
}
