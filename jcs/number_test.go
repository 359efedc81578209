package jcs_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/jcs"
)

// TestECMAScriptNumberSequence makes the deterministic number sequence published with the reference implementation of
// RFC 8785 and compares the hash of its lines: 168 special values (read from the published file), 2,000 in a row from
// the smallest normal number, then SHA-256 chained over 32 zero bytes.
func TestECMAScriptNumberSequence(t *testing.T) {
	want := map[int]string{
		1_000:     "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
		10_000:    "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
		100_000:   "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
		1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",
	}
	last := 1_000_000
	if testing.Short() {
		last = 100_000
	}
	sum := sha256.New()
	var line []byte
	next := numberSequence(t)
	for n := 1; n <= last; n++ {
		bits := next()
		line = append(strconv.AppendUint(line[:0], bits, 16), ',')
		line = append(jcs.AppendNumber(line, math.Float64frombits(bits)), '\n')
		sum.Write(line)
		if want[n] != "" {
			if got := hex.EncodeToString(sum.Sum(nil)); got != want[n] {
				t.Fatalf("%d lines: %s, want %s", n, got, want[n])
			}
		}
	}
}

func numberSequence(t *testing.T) func() uint64 {
	f, err := os.Open("testdata/rfc8785/es6-numbers-1000.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var special []uint64
	for lines := bufio.NewScanner(f); len(special) < 168 && lines.Scan(); {
		bits, _, _ := strings.Cut(lines.Text(), ",")
		u, err := strconv.ParseUint(bits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		special = append(special, u)
	}
	n := -1
	var block [32]byte
	rest := block[:0]
	return func() uint64 {
		n++
		if n < 168 {
			return special[n]
		}
		if n < 168+2000 {
			return 0x0010000000000000 + uint64(n-168)
		}
		for {
			if len(rest) == 0 {
				block = sha256.Sum256(block[:])
				rest = block[:]
			}
			u := binary.LittleEndian.Uint64(rest)
			rest = rest[8:]
			if f := math.Float64frombits(u); f != 0 && !math.IsNaN(f) && !math.IsInf(f, 0) {
				return u
			}
		}
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		in, want string
		kind     jcs.Kind
		says     string
	}{
		{"12570", "12570", "", ""},
		{"12.710", "12.71", "", ""},
		{"0.000001", "0.000001", "", ""},
		{"0.0000010", "0.000001", "", ""},
		{"0.0000001", "1e-7", "", ""},
		{"1e21", "1e+21", "", ""},
		{"0.0", "0", "", ""},
		{"0.040999999999999995", "0.040999999999999995", "", ""},
		{"28.000000000000004", "28.000000000000004", "", ""},
		{"0.040999999999999995001", "", jcs.KindNumber, `"0.040999999999999995001" would become 0.040999999999999995`},
		{"9007199254740993", "", jcs.KindNumber, "would become 9007199254740992"},
		{"9007199254740992", "", jcs.KindNumber, "beyond ±9007199254740991"},
		{"1e400", "", jcs.KindNumber, "beyond the largest"},
		{"9e99", "9e+99", "", ""},
		{"-0", "", jcs.KindNumber, `"-0" would become 0; write 0`},
		{"-0.00", "", jcs.KindNumber, "write 0"},
		{"1_000", "", jcs.KindSyntax, `"1_000" is not a JSON number`},
		{".inf", "", jcs.KindSyntax, "is not a JSON number"},
		{"0x10", "", jcs.KindSyntax, "is not a JSON number"},
		{"010", "", jcs.KindSyntax, "is not a JSON number"},
		{" 1", "", jcs.KindSyntax, "is not a JSON number"},
		{"1 ", "", jcs.KindSyntax, "is not a JSON number"},
		{"-", "", jcs.KindSyntax, "is not a JSON number"},
		{"", "", jcs.KindSyntax, "is not a JSON number"},
	}
	for _, tt := range tests {
		got, err := jcs.Number(tt.in)
		if got != tt.want || kindOf(t, err) != tt.kind || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Number(%q) = %q, %v; want %q, %q %q", tt.in, got, err, tt.want, tt.kind, tt.says)
		}
	}
}

// TestNumberProperty compares the gate with exact arithmetic: a literal is taken iff the shortest text of its binary64
// value denotes the same rational number and is not an integer beyond 2^53-1 in plain digits.
func TestNumberProperty(t *testing.T) {
	literal := rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		s += rapid.StringMatching(`0|[1-9][0-9]{0,17}`).Draw(t, "whole")
		s += rapid.StringMatching(`|\.[0-9]{1,18}|\.0{0,8}[0-9]{1,3}`).Draw(t, "fraction")
		return s + rapid.StringMatching(`|[eE][+-]?[0-9]{1,2}|[eE][+-]?[0-3][0-9]{2}`).Draw(t, "exponent")
	})
	rapid.Check(t, func(t *rapid.T) {
		lit := literal.Draw(t, "literal")
		got, err := jcs.Canonical([]byte(lit))
		f, parseErr := strconv.ParseFloat(lit, 64)
		if parseErr != nil {
			if err == nil {
				t.Fatalf("%s is accepted as %s", lit, got)
			}
			return
		}
		text := string(jcs.AppendNumber(nil, f))
		exact, ok := new(big.Rat).SetString(lit)
		shortest, ok2 := new(big.Rat).SetString(text)
		if !ok || !ok2 {
			t.Fatalf("no rational for %s or %s", lit, text)
		}
		survives := exact.Cmp(shortest) == 0 && (strings.ContainsAny(text, ".e") || math.Abs(f) < 1<<53)
		if survives != (err == nil) || err == nil && string(got) != text {
			t.Fatalf("%s: %s %v, want accepted=%v %s", lit, got, err, survives, text)
		}
	})
}

// TestAppendNumberReadsBack: the text of every finite number reads back as that number.
func TestAppendNumberReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		text := string(jcs.AppendNumber(nil, f))
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || back != f {
			t.Fatal(fmt.Sprintf("%x", math.Float64bits(f)), text, back, err)
		}
	})
}
