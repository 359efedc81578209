package facts

import "strings"

// MaxSourceBytes is the longest source of a record (F§3.2).
const MaxSourceBytes = 2048

// NormalizeSource puts a source URL into the normal form of F§7.2; ok is false when it was not. Text that is no https URL of RFC 3986, that carries user
// information or is longer than MaxSourceBytes has no normal form: normal is "". A final slash is stripped except at the root; a page that answers only with
// it keeps its spelling against the advice.
func NormalizeSource(source string) (normal string, ok bool) {
	const scheme = "https://"
	rest, isHTTPS := cutScheme(source)
	if !isHTTPS || len(source)-len(rest) != len(scheme) || len(source) > MaxSourceBytes || !isURLText(rest) {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	host, ok := normalHost(authority)
	if !ok {
		return "", false
	}
	path = removeDotSegments(normalEscapes(path))
	if path = strings.TrimRight(path, "/"); path == "" {
		path = "/"
	}
	normal = scheme + host + path
	if query = dropTracking(normalEscapes(query)); query != "" {
		normal += "?" + query
	}
	return normal, normal == source
}

// SourceHost is the lower-case host of a source URL without its port, "" when it has none.
func SourceHost(source string) string {
	rest, ok := cutScheme(source)
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host, ok := normalHost(rest)
	if !ok {
		return ""
	}
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return host
}

// isURLText reports the characters of RFC 3986 alone, each % followed by two hexadecimal digits.
func isURLText(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case isUnreserved(c) || strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0:
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
		default:
			return false
		}
	}
	return true
}

func isUnreserved(c byte) bool {
	return isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z' || c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// normalHost lowers a host and drops port 443 or an empty one. A host is a name or a bracketed address; user information is refused.
func normalHost(authority string) (host string, ok bool) {
	host, port := strings.ToLower(authority), ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i+1:]
	}
	name := host
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		name = strings.ReplaceAll(host[1:len(host)-1], ":", ".")
	}
	if name == "" {
		return "", false
	}
	for i := range len(name) {
		if c := name[i]; !isLower(c) && !isDigit(c) && c != '-' && c != '.' && c != '_' {
			return "", false
		}
	}
	for i := range len(port) {
		if !isDigit(port[i]) {
			return "", false
		}
	}
	if port != "" && port != "443" {
		host += ":" + port
	}
	return host, true
}

// normalEscapes decodes escaped unreserved characters and writes the other escapes in upper case.
func normalEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if c := unhex(s[i+1])<<4 | unhex(s[i+2]); isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// removeDotSegments resolves "." and ".." as RFC 3986 section 5.2.4 does for an absolute path.
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, segment := range segments {
		switch segment {
		case ".":
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, segment)
			continue
		}
		if i == len(segments)-1 {
			kept = append(kept, "") // a final dot segment leaves a slash
		}
	}
	return "/" + strings.Join(kept, "/")
}

// dropTracking removes what link decorators add to a query.
func dropTracking(query string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "utm_") && name != "gclid" && name != "fbclid" {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}
