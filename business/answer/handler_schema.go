package answer

import (
	"slices"

	"sayso/business"
	"sayso/jcs"
)

// js is one JSON Schema; its members are written in the order of their names.
type js = map[string]any

// InputSchema is the JSON Schema (draft 2020-12) of a handler's arguments, nil for a name that is none of business.Handlers. The schema of a publisher adds
// the keys of its streams; nil stands for a publisher without one. What it refuses the handler refuses with -32602; the handler also refuses what a schema
// cannot say, such as a dimension that is stated twice.
func InputSchema(handler string, schema *business.Schema) jcs.Raw {
	if schema == nil {
		schema = &business.Schema{}
	}
	var s js
	switch handler {
	case "knowledge.search":
		s = searchSchema()
	case "hybrid.resolve":
		s = searchSchema()
		s["properties"].(js)["live"] = js{"type": "boolean", "description": "also answer from live readings"}
	case "knowledge.get":
		s = strict(js{
			"records": js{"type": "array", "minItems": 1, "maxItems": 20, "uniqueItems": true, "items": keySchema()},
			"fields":  js{"type": "array", "minItems": 1, "maxItems": 32, "uniqueItems": true, "items": textSchema(maxName), "description": "price, duration, stock, available, or an attribute of the records"},
			"include": includeSchema(),
		}, "records")
	case "knowledge.neighbors":
		s = strict(js{
			"type": textSchema(maxName), "id": textSchema(maxID),
			"rel":       js{"type": "array", "minItems": 1, "maxItems": 16, "uniqueItems": true, "items": js{"type": "string", "pattern": "^(part_of|has_part|variant_of|requires|accessory_for|alternative_to|same_as|x-[a-z0-9_-]{1,62})$"}},
			"direction": js{"enum": []string{"out", "in", "both"}, "default": "both"},
			"limit":     limitSchema(50, 20),
		}, "type", "id")
	case "live.query":
		s = strict(js{
			"stream": streamSchema(schema, false), "subject": keySchema(), "location": textSchema(maxID), "limit": limitSchema(50, 10),
			"bound": strict(js{"record": textSchema(maxID + maxName), "location": textSchema(maxID)}),
		}, "stream")
	case "live.nearest":
		s = strict(js{
			"stream": streamSchema(schema, true), "subject": keySchema(), "predicate": predicateSchema(), "caller_location": positionSchema(),
			"max_distance_km": distanceSchema(), "limit": limitSchema(20, 3),
			"bound": strict(js{"record": textSchema(maxID + maxName), "caller_location": positionSchema()}),
		}, "stream")
	case "branches.nearest":
		s = strict(js{
			"caller_location": positionSchema(), "max_distance_km": distanceSchema(), "limit": limitSchema(20, 3),
			"open_at": js{"type": "string", "minLength": 1, "maxLength": 64, "description": "now, or an instant of RFC 3339"},
			"bound":   strict(js{"caller_location": positionSchema()}),
		})
	default:
		return nil
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out, err := jcs.Encode(s)
	if err != nil {
		return nil // no value above is one that cannot be written
	}
	return out
}

// strict is an object without other members.
func strict(properties js, required ...string) js {
	s := js{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func textSchema(limit int) js {
	return js{"type": "string", "minLength": 1, "maxLength": limit, "pattern": `^[^\x00-\x1f\x7f-\x9f]*$`}
}

func limitSchema(most, otherwise int) js {
	return js{"type": "integer", "minimum": 1, "maximum": most, "default": otherwise}
}

func keySchema() js {
	return strict(js{"type": textSchema(maxName), "id": textSchema(maxID)}, "type", "id")
}

func includeSchema() js {
	return js{"type": "array", "minItems": 1, "maxItems": 1, "items": js{"const": "content"}}
}

func positionSchema() js {
	return strict(js{
		"latitude": js{"type": "number", "minimum": -90, "maximum": 90}, "longitude": js{"type": "number", "minimum": -180, "maximum": 180},
	}, "latitude", "longitude")
}

func distanceSchema() js { return js{"type": "number", "exclusiveMinimum": 0} }

// streamSchema lists the keys of the declared streams, of those stated by location when scoped. An empty list would be no schema; then no text fits.
func streamSchema(schema *business.Schema, scoped bool) js {
	keys := []string{}
	for _, s := range schema.Streams {
		if !scoped || s.ScopedBy != "" {
			keys = append(keys, s.Key)
		}
	}
	if len(keys) == 0 {
		return js{"type": "string", "not": js{}}
	}
	slices.Sort(keys)
	return js{"type": "string", "enum": keys}
}

func predicateSchema() js {
	return strict(js{
		"op":    js{"enum": []string{"is", "lt", "le", "gt", "ge", "between", "contains"}},
		"value": operandSchema(),
		"unit":  textSchema(maxName),
	}, "op", "value")
}

// operandSchema is a value to compare with; a list is the two ends of between.
func operandSchema() js {
	return js{"oneOf": []js{
		{"type": "boolean"}, {"type": "number"}, {"type": "string", "minLength": 1, "maxLength": maxID},
		{"type": "array", "minItems": 2, "maxItems": 2, "items": js{"type": "number"}},
	}}
}

func searchSchema() js {
	criterion := strict(js{
		"type": textSchema(maxName), "id": textSchema(maxID), "field": textSchema(maxName), "unit": textSchema(maxName),
		"op": js{"enum": []string{"exists", "lt", "le", "gt", "ge", "between", "is", "contains"}}, "value": operandSchema(),
	}, "field", "op")
	s := strict(js{
		"query":    js{"type": "string", "minLength": 1, "maxLength": 512},
		"language": js{"type": "string", "minLength": 2, "maxLength": 35, "description": "BCP 47"},
		"criteria": js{"type": "array", "minItems": 1, "maxItems": 16, "items": criterion},
		"bound": js{
			"type": "object", "additionalProperties": false,
			"properties": js{"location": textSchema(maxID), "date": textSchema(maxName), "caller_location": positionSchema()},
			"patternProperties": js{
				`^(record|variant)(\.[1-9][0-9]?)?$`: textSchema(maxID + maxName),
			},
		},
		"include": includeSchema(), "limit": limitSchema(50, 10),
	})
	s["anyOf"] = []js{{"required": []string{"query"}}, {"required": []string{"criteria"}}}
	return s
}
