package jcsoracle

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	gowebpki "github.com/gowebpki/jcs"

	"sayso/jcs"
	"sayso/vectors"
)

// agree fails when both accept text and write different bytes, or when only we accept it, or when only we refuse it for
// another reason than a number or the depth.
func agree(t *testing.T, text []byte) {
	t.Helper()
	ours, err := jcs.Canonical(text)
	theirs, theirErr := gowebpki.Transform(text)
	if err != nil {
		var e *jcs.Error
		if !errors.As(err, &e) {
			t.Fatalf("error %v is not a *jcs.Error", err)
		}
		if theirErr == nil && e.Kind != jcs.KindNumber && e.Kind != jcs.KindDepth {
			t.Errorf("only we refuse %.200q: %v", text, err)
		}
		return
	}
	if theirErr != nil {
		t.Errorf("only we accept %.200q: %v", text, theirErr)
		return
	}
	if string(ours) != string(theirs) {
		t.Errorf("%.200q:\n ours %s\ntheir %s", text, ours, theirs)
	}
}

func TestVectors(t *testing.T) {
	for _, v := range vectors.Claims() {
		agree(t, []byte(v.Claim))
	}
	for _, v := range vectors.Attestations() {
		agree(t, v.Attestation)
	}
	for _, v := range vectors.Keys() {
		agree(t, []byte(v.Set))
	}
}

func TestFiles(t *testing.T) {
	n := 0
	for _, pattern := range []string{"jsontestsuite/test_*/*.json", "rfc8785/input/*.json"} {
		files, err := filepath.Glob("../../jcs/testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n++
			t.Run(filepath.Base(file), func(t *testing.T) { agree(t, data) })
		}
	}
	if n != 318+22+6 {
		t.Errorf("%d files", n)
	}
}

// TestNumbers compares the text of numbers of every magnitude.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(8785, 1))
	for range 300_000 {
		f := math.Float64frombits(random.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		theirs, err := gowebpki.NumberToJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if ours := string(jcs.AppendNumber(nil, f)); ours != theirs {
			t.Fatalf("%x: ours %s, theirs %s", math.Float64bits(f), ours, theirs)
		}
	}
}

// TestRandomTexts compares random trees with awkward names.
func TestRandomTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(8785, 2))
	for range 20_000 {
		agree(t, appendTree(nil, random, 4))
	}
}

var awkward = []string{"", "a", "A", "aa", "1", "10", "\\u0000", "\\n", "\\\"", "\\\\", "\\/", "\u20ac", "\ufb33", "\uffff", "\U0001F600", "\U0010ffff",
	"\\ud83d\\ude00", "\u05d3\u05bc", "abcdefgh", "abcdefghi", "abcdefgh\\u0000", "\ud7ff", "\ue000", "</script>", "\u2028", "\x7f", "\u0080"}

func appendTree(dst []byte, random *rand.Rand, depth int) []byte {
	kind := random.IntN(6)
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return append(dst, []string{"null", "true", "false"}[random.IntN(3)]...)
	case 1:
		return strconv.AppendFloat(dst, random.NormFloat64(), 'g', -1, 64)
	case 2:
		return strconv.AppendInt(dst, random.Int64N(1<<53)-1<<52, 10)
	case 3:
		return append(append(append(dst, '"'), awkward[random.IntN(len(awkward))]...), '"')
	case 4:
		dst = append(dst, '[')
		for i := range random.IntN(4) {
			if i > 0 {
				dst = append(dst, " , "...)
			}
			dst = appendTree(dst, random, depth-1)
		}
		return append(dst, ']')
	}
	dst = append(dst, "{ "...)
	for i := range random.IntN(16) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), awkward[random.IntN(len(awkward))]...), awkward[random.IntN(len(awkward))]...)
		dst = appendTree(append(dst, "\" : "...), random, depth-1)
	}
	return append(dst, '}')
}

func FuzzAgree(f *testing.F) {
	for _, v := range vectors.Claims() {
		f.Add([]byte(v.Claim))
	}
	f.Add([]byte(`{"b":[1.50,-0,1e21],"a":{"\u0072ole":"\ud83d\ude00"}}`))
	f.Fuzz(agree)
}

// record is a signed fact record as it is served, about 1 KB.
const record = `{"protocol":"verified-facts/0.2","key":"uk/income-tax/personal-allowance","aliases":["uk/personal-allowance"],` +
	`"label":"Personal Allowance","value":12570,"unit":"GBP/year","period":"2026-27","effectiveFrom":"2026-04-06",` +
	`"effectiveTo":"2027-04-05","source":"https://www.gov.uk/income-tax-rates","quote":"The standard Personal Allowance is £12,570",` +
	`"verifiedDate":"2026-10-04","nextScheduledRefresh":"2026-11-18","status":"fresh","ageDays":12,"maxAgeDays":null,` +
	`"previous":{"value":12570,"period":"2025-26","effectiveFrom":"2025-04-06","source":"https://www.gov.uk/income-tax-rates"},` +
	`"scope":"People with income up to the taper threshold",` +
	`"hash":"sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576",` +
	`"signature":{"alg":"EdDSA","kid":"ex-2026-10","jws":"eyJhbGciOiJFZERTQSIsImtpZCI6ImRiLTIwMjYtMTAifQ..` +
	`UfxJq9hqctjp-wwtOvFr5_GkIl3ApHIVF2EbVEcJNuCt9xAtWz7zH-GGnTfUBTOKtIVTi0ys5ZzP8DsByusvDg",` +
	`"keys":"https://figures.example/.well-known/jwks.json"},"publisher":{"name":"Example Figures","url":"https://figures.example/"}}`

// batch is an object with n records under keys that are not in order.
func batch(n int) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strconv.Itoa(i*7919%n) + `":` + record)
	}
	return []byte(b.String() + "}")
}

// BenchmarkJCSRecord canonicalises a record and objects of ten and a hundred of them.
func BenchmarkJCSRecord(b *testing.B) {
	for _, size := range []struct {
		name string
		text []byte
	}{{"1KB", []byte(record)}, {"10KB", batch(9)}, {"100KB", batch(86)}} {
		ours, err := jcs.Canonical(size.text)
		theirs, theirErr := gowebpki.Transform(size.text)
		if err != nil || theirErr != nil || string(ours) != string(theirs) {
			b.Fatalf("%s: the two do not agree, so comparing their speed means nothing (%v, %v)", size.name, err, theirErr)
		}
		b.Run("ours/"+size.name, func(b *testing.B) {
			b.SetBytes(int64(len(size.text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				var err error
				if dst, err = jcs.AppendCanonical(dst[:0], size.text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("gowebpki/"+size.name, func(b *testing.B) {
			b.SetBytes(int64(len(size.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := gowebpki.Transform(size.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
