package gidpa2a

import (
	"crypto/sha256"
	"net/http"
	"strconv"
	"time"

	"sayso/jcs"
)

// maxWait is the longest Retry-After that is believed.
const maxWait = 24 * time.Hour

// readResult takes the result out of a JSON-RPC answer. What a server, a proxy or a peer refused is a *Refusal; its text is never used.
func readResult(status int, header http.Header, body []byte, now time.Time) (jcs.Raw, error) {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, &Refusal{Code: Denied}
	case status == http.StatusNotFound || status == http.StatusGone:
		return nil, &Refusal{Code: NotFound}
	case status == http.StatusRequestEntityTooLarge:
		return nil, &Refusal{Code: Invalid}
	case status == http.StatusTooManyRequests:
		return nil, &Refusal{Code: Limited, RetryAfter: retryAfter(header, now)}
	case status >= 500:
		return nil, &Refusal{Code: Unavailable, RetryAfter: retryAfter(header, now)}
	case status != http.StatusOK && status != http.StatusBadRequest:
		return nil, &BadAnswer{"its status is not one of JSON-RPC over HTTP"}
	}
	members, err := jcs.Members(body)
	if err != nil {
		return nil, &BadAnswer{"it is not one JSON object under the strict profile"}
	}
	var result, fault jcs.Raw
	version, id := "", ""
	for _, m := range members {
		switch m.Name {
		case "jsonrpc":
			version, _ = jcs.Text(m.Value)
		case "id":
			id, _ = jcs.Text(m.Value)
		case "result":
			result = m.Value
		case "error":
			fault = m.Value
		}
	}
	if version != "2.0" || (result == nil) == (fault == nil) || result != nil && id != requestName {
		return nil, &BadAnswer{"it is not JSON-RPC 2.0"}
	}
	if fault == nil {
		return result, nil
	}
	var e struct {
		Code int64 `json:"code"`
	}
	if jcs.Decode(fault, &e) != nil {
		return nil, &BadAnswer{"its error is not one of JSON-RPC 2.0"}
	}
	return nil, refusalOf(e.Code)
}

// refusalOf is the table of refuse read backwards. A peer that cannot speak A2A 1.0 has no extension in force.
func refusalOf(code int64) error {
	switch code {
	case -32001:
		return &Refusal{Code: NotFound}
	case -32004:
		return &Refusal{Code: Closed}
	case -32009, -32008:
		return &NotActive{}
	case -32603, -32000:
		return &Refusal{Code: Unavailable}
	case -31401, -31403:
		return &Refusal{Code: Denied}
	}
	return &Refusal{Code: Invalid}
}

func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), maxWait))
	}
	return 0
}

// member returns the one member of a result that says what it is.
func member(result jcs.Raw, name string) (jcs.Raw, error) {
	members, err := jcs.Members(result)
	if err == nil && len(members) == 1 && members[0].Name == name {
		return members[0].Value, nil
	}
	return nil, &BadAnswer{"it is neither a task nor a message where one belongs"}
}

// received reads a task and holds it against what was shown before.
func (c *Client) received(to Peer, raw jcs.Raw) (Received, error) {
	r, session, err := readTask(raw, c.names)
	switch {
	case err != nil:
		return Received{}, err
	case session != to.Session || to.Task != "" && r.Task != to.Task:
		return Received{}, &BadAnswer{"it is another task"}
	}
	digests := make([][sha256.Size]byte, 0, len(r.Artifacts))
	for _, a := range r.Artifacts {
		digests = append(digests, digest(a))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := to.Endpoint + " " + r.Task
	known := c.seen[name]
	for i := range min(len(known), len(digests)) {
		if known[i] != digests[i] {
			return Received{}, &BadAnswer{"an artifact is not the one that was shown before"}
		}
	}
	if len(digests) > len(known) || known == nil {
		forget(c.seen)
		c.seen[name] = digests
	}
	return r, nil
}

// digest covers everything of an artifact that is read.
func digest(a Artifact) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{a.Object, []byte(a.Signature), a.Evidence, a.Hint, a.Key} {
		var size [8]byte
		h.Write(strconv.AppendInt(size[:0], int64(len(part)), 10))
		h.Write([]byte{':'})
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

const maxArtifacts = 256 // of one session (sec. 5)

// readTask reads a task of A2A with the objects in it. The states are the three that GIDP has; artifacts are numbered from 1 without a gap.
func readTask(raw jcs.Raw, n names) (r Received, session string, err error) {
	var in struct {
		ID      string `json:"id"`
		Context string `json:"contextId"`
		Status  struct {
			State TaskState `json:"state"`
		} `json:"status"`
		Artifacts []struct {
			ID       string             `json:"artifactId"`
			Metadata map[string]jcs.Raw `json:"metadata"`
		} `json:"artifacts"`
	}
	if jcs.Decode(raw, &in) != nil || !identifier(in.ID) || !identifier(in.Context) {
		return r, "", &BadAnswer{"it is not a task of A2A 1.0"}
	}
	switch in.Status.State {
	case Working, InputRequired, Completed:
	default:
		return r, "", &BadAnswer{"the task has a state that GIDP does not use"}
	}
	if len(in.Artifacts) > maxArtifacts {
		return r, "", &BadAnswer{"it has more artifacts than a session can have"}
	}
	r = Received{Task: in.ID, State: in.Status.State}
	for i, shown := range in.Artifacts {
		if shown.ID != artifactID(i+1) {
			return Received{}, "", &BadAnswer{"artifacts are missing or out of order"}
		}
		a := Artifact{Number: i + 1}
		var evidence, hint, key []byte
		for name, into := range map[string]*[]byte{n.object: &a.Object, n.evidence: &evidence, n.hint: &hint, n.key: &key} {
			value, there := shown.Metadata[name]
			if !there {
				continue
			}
			var ok bool
			if *into, ok = object(value); !ok {
				return Received{}, "", &BadAnswer{"an artifact has metadata that is no JSON object within the bound"}
			}
		}
		a.Evidence, a.Hint, a.Key = evidence, hint, key
		if value, there := shown.Metadata[n.signature]; there {
			text, ok := jcs.Text(value)
			if !ok || text == "" || len(text) > maxSignature || !visible(text) {
				return Received{}, "", &BadAnswer{"an artifact has a signature of another form"}
			}
			a.Signature = text
		}
		if a.Object == nil && a.Evidence == nil {
			return Received{}, "", &BadAnswer{"an artifact brings nothing of GIDP"}
		}
		if a.Object != nil {
			if _, of, ok := about(a.Object); !ok || of != in.Context {
				return Received{}, "", &BadAnswer{"an artifact is of another session"}
			}
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	return r, in.Context, nil
}
