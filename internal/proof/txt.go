package proof

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	quorum    = 3 // vantage points for an answer that no trusted resolver validated
	tolerated = 1 // of them that may see something else
)

const nextSetting = "the operator of the registry names three resolvers in the setting resolvers (SAYSO_RESOLVERS), or one that validates DNSSEC on loopback or over TLS"

// observation is what one resolver saw at the challenge name.
type observation struct {
	point   Point
	failure *Failure // nil: the token stands there
	answer  answer
	decides bool // a trusted resolver validated the answer, or found its signatures broken
}

// mute reports that this resolver saw nothing at all.
func (o observation) mute() bool {
	return o.failure != nil && (o.failure.Code == CodeServFail || o.failure.Code == CodeTimeout)
}

// checkTXT proves by the TXT record at the challenge name.
func (c *Checker) checkTXT(ctx context.Context, ch Challenge, ev *Evidence) *Failure {
	if !c.fewAllowed() && !slices.ContainsFunc(c.Resolvers, Resolver.trusted) || len(c.Resolvers) == 0 {
		return c.tooFew()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	seen := make([]observation, len(c.Resolvers))
	var wait sync.WaitGroup
	for i, r := range c.Resolvers {
		wait.Go(func() { seen[i] = c.observe(ctx, r, ch, ev.At) })
	}
	wait.Wait()
	at, f := c.verdict(seen)
	decided := seen[at]
	for _, o := range seen {
		ev.Points = append(ev.Points, o.point)
		if (o.failure == nil) != (f == nil) && (f == nil || f.Code != CodeSetting) {
			ev.Dissent = append(ev.Dissent, o.point.Name)
		}
	}
	ev.AnswerHash, ev.Target, ev.AD = decided.point.AnswerHash, shownName(decided.answer.target), decided.point.AD
	if f != nil && (f.Code == CodeNXDomain || f.Code == CodeNoData) {
		return c.explainAbsence(ctx, ch, c.Resolvers[at], decided.answer.soa, f, ev)
	}
	return f
}

// fewAllowed reports whether an answer that nobody validated can be judged at all.
func (c *Checker) fewAllowed() bool {
	return len(c.Resolvers) >= quorum || c.Loopback != nil && c.Loopback.OneResolver
}

func (c *Checker) tooFew() *Failure {
	return fail(CodeSetting, nextSetting, "an answer without DNSSEC needs %d vantage points and the registry has %d", quorum, len(c.Resolvers))
}

// observe asks one resolver for the TXT records of the challenge name.
func (c *Checker) observe(ctx context.Context, r Resolver, ch Challenge, now time.Time) observation {
	o := observation{point: Point{Name: r.String()}}
	o.answer, o.failure = c.resolve(ctx, r, recordName(ch.Host), dns.TypeTXT)
	switch {
	case o.failure != nil:
		o.decides = r.trusted() && o.failure.bogus
	case o.answer.negative != "":
		o.failure = absent(o.answer.negative, ch.Host)
	default:
		values := texts(o.answer.records)
		o.failure = judge(values, ch.Token, now)
		o.point.AnswerHash = hashTexts(values)
	}
	if o.answer.ad && !o.mute() {
		o.point.AD, o.decides = true, true
	}
	o.point.Outcome = outcome(o.failure)
	return o
}

func absent(code, host string) *Failure {
	next := "add the TXT record exactly there, then check again"
	if code == CodeNXDomain {
		return gone(code, next, "there is no name %s", recordName(host))
	}
	return gone(code, next, "the name %s holds no TXT record", recordName(host))
}

// verdict weighs the observations and returns the one that stands for the result.
//
// What a trusted resolver validated decides, a match before anything else. Otherwise all of them vote; with three or more, one may see something else.
func (c *Checker) verdict(seen []observation) (at int, f *Failure) {
	match := func(o observation) bool { return o.failure == nil }
	if at = slices.IndexFunc(seen, func(o observation) bool { return o.decides && match(o) }); at >= 0 {
		return at, nil
	}
	if at = slices.IndexFunc(seen, func(o observation) bool { return o.decides }); at >= 0 {
		return at, seen[at].failure
	}
	var matched, mute []int
	seenCodes := map[string][]int{}
	for i, o := range seen {
		switch {
		case match(o):
			matched = append(matched, i)
		case o.mute():
			mute = append(mute, i)
		default:
			seenCodes[o.failure.Code] = append(seenCodes[o.failure.Code], i)
		}
	}
	spare := 0
	if len(seen) >= quorum {
		spare = tolerated
	}
	switch {
	case len(mute) == len(seen) || len(mute) > spare && c.fewAllowed():
		return mute[0], seen[mute[0]].failure
	case !c.fewAllowed():
		return 0, c.tooFew()
	case len(matched) >= len(seen)-spare:
		return matched[0], nil
	case len(matched) > 0:
		return matched[0], fail(CodeDisagreement, "wait until your change has reached every name server, then check again",
			"%d of %d vantage points see the token", len(matched), len(seen))
	}
	var most []int
	for _, o := range seen {
		if o.failure != nil && len(seenCodes[o.failure.Code]) > len(most) {
			most = seenCodes[o.failure.Code]
		}
	}
	return most[0], seen[most[0]].failure
}

// texts joins the strings of each TXT record; a value longer than 255 bytes comes in several.
func texts(records []dns.RR) []string {
	out := make([]string, 0, len(records))
	for _, rr := range records {
		if txt, ok := rr.(*dns.TXT); ok {
			out = append(out, unescape(strings.Join(txt.Txt, "")))
		}
	}
	return out
}

// unescape turns the zone file form, in which the library hands out strings, into the bytes of the record.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		if i++; s[i] < '0' || s[i] > '9' || i+2 >= len(s) {
			out = append(out, s[i])
			continue
		}
		out = append(out, (s[i]-'0')*100+(s[i+1]-'0')*10+s[i+2]-'0')
		i += 2
	}
	return string(out)
}

// hashTexts is the SHA-256 over the values sorted as bytes, each behind its length as four bytes, big-endian.
func hashTexts(values []string) string {
	h := sha256.New()
	for _, v := range slices.Sorted(slices.Values(values)) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(v))))
		h.Write([]byte(v))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

const nextValue = "publish the value exactly as it was given, without quotes, spaces or other characters around it"

// judge finds the token in a set of values: any one of them may hold it.
func judge(values []string, token string, now time.Time) *Failure {
	expired, near := false, ""
	for _, v := range values {
		text, found := strings.CutPrefix(v, "token=")
		text, expiry, limited := strings.Cut(text, " expiry=")
		if !found || subtle.ConstantTimeCompare([]byte(text), []byte(token)) != 1 {
			near = cmp.Or(near, difference(v, token))
			continue
		}
		if !limited {
			return nil
		}
		until, err := time.Parse(time.RFC3339, expiry)
		if err == nil && now.Before(until) {
			return nil
		}
		expired = expired || err == nil
		near = cmp.Or(near, "its expiry is not a time such as 2030-01-31T00:00:00Z")
	}
	switch {
	case expired:
		return gone(CodeTokenExpired, nextToken, "the record holds the token with an expiry that has passed")
	case near != "":
		return gone(CodeWrongValue, nextValue, "a TXT record comes close to the expected value: %s", near)
	}
	return gone(CodeWrongValue, nextValue, "none of the %d TXT records holds the token of this proof", len(values))
}

// difference names a slip of the hand, "" when the value is another one altogether. It tells nobody more than the value that they published.
func difference(value, token string) string {
	want := "token=" + token
	switch bare := strings.Trim(value, "\"'. \t"); {
	case bare == token:
		return "the front part token= is missing"
	case strings.EqualFold(bare, want) && bare != want:
		return "upper and lower case differ"
	case bare == want:
		return "it has quotes, spaces or a dot around it"
	case strings.ReplaceAll(value, " ", "") == want:
		return "it has spaces inside"
	}
	return ""
}
