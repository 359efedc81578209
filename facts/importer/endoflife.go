package importer

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The fields of a release that can become figures; the others are names and links.
var releaseFields = []string{"releaseDate", "eol", "eoas", "lts", "discontinued", "eoes", "latest", "latestReleaseDate", "support", "extendedSupport"}

// endOfLife reads product files: Markdown whose front matter lists releases (F§11.1). A parameter is product/release/field.
func (t *taker) endOfLife(src fs.FS) ([]series, error) {
	var out []series
	products := map[string]string{}
	err := t.tree(src, []string{".md"}, func(name string, data []byte) {
		front, ok := frontMatter(data)
		if !ok {
			return
		}
		root, bad := parseForeign(front)
		if bad != nil {
			t.unreadable(name, bad.line+1, bad.message, bad.next)
			return
		}
		releases := get(root, "releases")
		if releases == nil || releases.Kind != yaml.SequenceNode {
			return
		}
		product := strings.TrimSuffix(path.Base(name), ".md")
		if other, dup := products[product]; dup {
			t.unreadable(name, 0, "product "+product+" is in "+other+" too", "import one folder of products")
			return
		}
		products[product] = name
		out = append(out, t.releases(releases, product, name)...)
	})
	return out, err
}

// frontMatter is the YAML between the two lines of dashes that a Markdown file begins with.
func frontMatter(data []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		rest, ok = bytes.CutPrefix(data, []byte("---\r\n"))
	}
	front, _, closed := bytes.Cut(rest, []byte("\n---"))
	return append(front, '\n'), ok && closed
}

func (t *taker) releases(n *yaml.Node, product, file string) []series {
	var out []series
	seen := map[string]bool{}
	for _, r := range n.Content {
		name := word(get(r, "releaseCycle"))
		if name == "" || seen[name] {
			t.unreadable(file, r.Line+1, "a release has no name or the name of another one", "mend it upstream")
			continue
		}
		seen[name] = true
		var refs []reference
		// A link with __RELEASE_CYCLE__ or the like is a template, not a page.
		if link := word(get(r, "link")); link != "" && !strings.Contains(link, "__") {
			refs = []reference{{"", link}}
		}
		for field, v := range members(r) {
			if !slices.Contains(releaseFields, field) {
				continue
			}
			d := dated{line: v.Line + 1, refs: refs}
			d.value, d.problem = literalOf(v)
			if d.value.kind == number {
				d.value.kind = text // a version that looks like a number is a name
			}
			out = append(out, series{path: product + "/" + name + "/" + field, file: file, line: v.Line + 1, values: []dated{d}})
		}
	}
	return out
}
