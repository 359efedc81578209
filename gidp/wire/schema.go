package wire

import (
	"slices"

	"sayso/jcs"
)

// Schema returns the JSON Schema (draft 2020-12) of a type as sayso publishes it: what [Decode] accepts, but for the rules between members, the bounds in
// bytes, and the numbers that the strict JSON profile refuses. It returns nil when there is no such type.
func Schema(t Type) []byte {
	o := blank(t)
	if o == nil {
		return nil
	}
	c := &codec{mode: describing}
	c.describe("type", `{"const":"`+string(t)+`"}`, required)
	c.describe("version", `{"const":"`+Version+`"}`, required)
	o.members(c)
	head := `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:sayso:gidp:0.1:` + string(t) + `","title":"` + string(t) + `",`
	return append([]byte(head), c.objectSchema()[1:]...)
}

func describeObject(v member) string {
	c := &codec{mode: describing}
	v.members(c)
	return c.objectSchema()
}

func (c *codec) objectSchema() string {
	slices.Sort(c.needs)
	return `{"type":"object","additionalProperties":false,"properties":` + string(c.join()) + `,"required":` + requiredList(c.needs) + `}`
}

func requiredList(names []string) string {
	dst := []byte{'['}
	for i, n := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jcs.AppendString(dst, n)
	}
	return string(append(dst, ']'))
}
