package mcpserve

import (
	"net/http"
	"slices"
	"strconv"

	"sayso/jcs"
)

// framing says who writes the answer of a call whose outcome is known. The SDK takes ten times as long to frame an answer as it takes to make one, so what it
// would write for an ordinary call is written here; a differential test holds the two to the same answer.
type framing uint8

const (
	bySDK        framing = iota
	byHandshake          // as under a revision with a handshake
	withoutState         // as under 2026-07-28
)

// framingOf decides. Everything that is not plainly ordinary is the SDK's: it judges what revisions ask of headers and metadata.
func framingOf(header http.Header, m message, c toolCall, o outcome) framing {
	if m.extra || c.extra || c.fault != nil {
		return bySDK
	}
	switch only(header, "Mcp-Protocol-Version") {
	case "2025-11-25", "2025-06-18":
		if plainMeta(c.meta, nil) {
			return byHandshake
		}
	case firstStateless:
		named := only(header, "Mcp-Method") == m.method && only(header, "Mcp-Name") == c.name && c.name != ""
		if named && o.fault == nil && plainMeta(c.meta, statelessMeta) && survives(c.arguments) {
			return withoutState
		}
	}
	return bySDK
}

// survives reports whether every number of the arguments is one of binary64: the SDK does not see the metadata beside one that is not.
func survives(arguments jcs.Raw) bool { return arguments == nil || jcs.Check(arguments) == nil }

// only is the value of a header that was sent once, else "".
func only(header http.Header, name string) string {
	if values := header[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// metaMember is a member of _meta that is known to say nothing about the answer.
type metaMember struct {
	name     string
	required bool
	plain    func(jcs.Raw) bool
}

const metaPrefix = "io.modelcontextprotocol/"

// progressToken asks for notifications, which a single JSON body has no place for.
var progressToken = metaMember{"progressToken", false, validID}

var statelessMeta = []metaMember{
	{metaPrefix + "protocolVersion", true, func(v jcs.Raw) bool { return string(v) == `"`+firstStateless+`"` }},
	{metaPrefix + "clientCapabilities", true, plainCapabilities},
	{metaPrefix + "clientInfo", false, plainInfo},
}

// plainMeta reports whether meta, nil when absent, holds what is required and nothing that only the SDK can judge.
func plainMeta(meta jcs.Raw, known []metaMember) bool {
	if meta == nil {
		return known == nil
	}
	members, err := form.Members(meta)
	if err != nil {
		return false
	}
	required := 0
	for _, m := range members {
		if m.Name == progressToken.name && progressToken.plain(m.Value) {
			continue
		}
		i := slices.IndexFunc(known, func(k metaMember) bool { return k.name == m.Name })
		if i < 0 || !known[i].plain(m.Value) {
			return false
		}
		if known[i].required {
			required++
		}
	}
	for _, k := range known {
		if k.required {
			required--
		}
	}
	return required == 0
}

// plainCapabilities admits capabilities without settings, and the two that have settings of their own with theirs empty.
func plainCapabilities(v jcs.Raw) bool {
	return eachMember(v, func(name string, value jcs.Raw) bool {
		return empty(name, value) || (name == "elicitation" || name == "sampling") && eachMember(value, empty)
	})
}

func empty(_ string, value jcs.Raw) bool { return string(value) == "{}" }

// plainInfo admits an implementation that says what it is called.
func plainInfo(v jcs.Raw) bool {
	return eachMember(v, func(name string, value jcs.Raw) bool {
		return (name == "name" || name == "title" || name == "version") && value[0] == '"'
	})
}

// eachMember reports whether v is an object all of whose members are admitted.
func eachMember(v jcs.Raw, admitted func(name string, value jcs.Raw) bool) bool {
	members, err := form.Members(v)
	return err == nil && !slices.ContainsFunc(members, func(m jcs.Member) bool { return !admitted(m.Name, m.Value) })
}

// frame writes the answer of a call as the SDK would, with the document byte for byte in both channels.
func (x *exchange) frame(w http.ResponseWriter, m message, as framing) {
	if fault := x.outcome.fault; fault != nil {
		answered := *fault
		answered.ID = m.id
		refuseRPC(w, http.StatusOK, &answered)
		return
	}
	result := x.outcome.result
	const around = 512 // ids, names and what JSON adds
	out := make([]byte, 0, 2*len(result.JSON)+len(result.JSON)/4+len(result.Text)+len(m.id)+around)
	out = append(append(out, `{"jsonrpc":"2.0","id":`...), m.id...)
	out = append(out, `,"result":{`...)
	if as == withoutState {
		id := x.identity()
		out = append(out, `"resultType":"complete","_meta":{"`+metaPrefix+`serverInfo":{"name":`...)
		out = jcs.AppendString(out, id.Name)
		if id.Title != "" {
			out = jcs.AppendString(append(out, `,"title":`...), id.Title)
		}
		out = append(jcs.AppendString(append(out, `,"version":`...), id.Version), `}},`...)
	}
	out = append(out, `"content":[{"type":"text","text":`...)
	if result.IsError {
		out = append(jcs.AppendString(out, result.Text), `}],"isError":true}}`...)
	} else {
		out = append(jcs.AppendString(out, string(result.JSON)), `}],"structuredContent":`...)
		out = append(append(out, result.JSON...), `}}`...)
	}
	header := w.Header()
	header["Content-Type"] = typeJSON
	header["Content-Length"] = []string{strconv.Itoa(len(out))}
	w.WriteHeader(http.StatusOK)
	w.Write(out)
}
