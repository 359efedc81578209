package server

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/internal/buildinfo"
	"sayso/jcs"
)

// describeAdmin is the OpenAPI 3.1 document of the table. Its schemas are derived from the Go types that bodies are decoded into and answers encoded from.
func describeAdmin(c *call) (document, error) { return openAPI(c.routes) }

type object = map[string]any

func openAPI(routes []adminRoute) (document, error) {
	s := schemas{parts: object{}, types: map[string]reflect.Type{}}
	problem := s.of(reflect.TypeFor[refusalBody](), false)
	paths := object{}
	for i := range routes {
		route := &routes[i]
		item, ok := paths[adminBase+route.pattern].(object)
		if !ok {
			item = object{}
			if names := pathNames(route.pattern); len(names) > 0 {
				item["parameters"] = names
			}
			paths[adminBase+route.pattern] = item
		}
		item[strings.ToLower(route.method)] = s.operation(route, problem)
	}
	return jcs.Encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "sayso registry administration", "version": buildinfo.Get().Version,
			"description": "Every answer carries X-Request-Id. Members and parameters that are not described are refused.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []object{{"url": "/"}},
		"paths":   paths,
		"components": object{
			"schemas":         s.parts,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "a token of an operator or of a publisher"}},
		},
	})
}

func pathNames(pattern string) (parameters []object) {
	for _, part := range strings.Split(pattern, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	return parameters
}

func (s *schemas) operation(route *adminRoute, problem object) object {
	op := object{
		"operationId": strings.ToLower(route.method) + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "_").Replace(route.pattern),
		"summary":     route.summary,
		"responses": object{
			strconv.Itoa(route.answerStatus()): object{"description": http.StatusText(route.answerStatus()), "content": content(s.of(route.out, false), "application/json")},
			"default":                          object{"description": "a refusal", "content": content(problem, "application/json")},
		},
	}
	if route.operations != nil {
		op["security"] = []object{{"token": []string{}}}
	}
	var parameters []object
	for _, p := range route.query {
		kind := object{"type": p.kind}
		if p.enum != "" {
			kind["enum"] = strings.Split(p.enum, "|")
		}
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.desc, "schema": kind})
	}
	if route.method != http.MethodGet && route.operations != nil {
		parameters = append(parameters, object{
			"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"},
			"description": "makes the act repeatable: a second request with the same key, token and path changes nothing",
		})
	}
	if len(parameters) > 0 {
		op["parameters"] = parameters
	}
	switch {
	case route.in != nil:
		op["requestBody"] = object{"required": len(requiredMembers(route.in)) > 0, "content": content(s.of(route.in, true), "application/json")}
	case route.types != nil:
		op["requestBody"] = object{"required": true, "content": content(object{}, route.types...)}
	}
	return op
}

func content(schema object, types ...string) object {
	out := object{}
	for _, t := range types {
		out[t] = object{"schema": schema}
	}
	return out
}

// schemas collects JSON Schemas of Go types by name.
type schemas struct {
	parts object
	types map[string]reflect.Type
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	rawType      = reflect.TypeFor[jcs.Raw]()
	documentType = reflect.TypeFor[document]()
)

// of describes a type. strict is for what is read: members that are not declared are refused.
func (s *schemas) of(t reflect.Type, strict bool) object {
	switch {
	case t == timeType:
		return object{"type": "string", "format": "date-time"}
	case t == rawType, t == documentType:
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), strict)
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem(), strict)}
	case reflect.Struct:
		return s.named(t, strict)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	default:
		return object{"type": "integer"}
	}
}

// named describes a struct once and refers to it.
func (s *schemas) named(t reflect.Type, strict bool) object {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if strict && !strings.HasSuffix(name, "Input") {
		name += "Input"
	}
	switch s.types[name] {
	case t:
	case nil:
		s.types[name] = t
		members, required := object{}, []string{}
		s.members(t, strict, members, &required)
		part := object{"type": "object", "properties": members}
		if len(required) > 0 {
			part["required"] = required
		}
		if strict {
			part["additionalProperties"] = false
		}
		s.parts[name] = part
	default:
		panic("two types of the admin API are called " + name)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) members(t reflect.Type, strict bool, into object, required *[]string) {
	for field, name := range members(t) {
		schema := maps.Clone(s.of(field.Type, strict))
		if text := field.Tag.Get("enum"); text != "" {
			of := schema
			if field.Type.Kind() == reflect.Slice {
				of = object{"type": "string"}
				schema["items"] = of
			}
			of["enum"] = strings.Split(text, "|")
		}
		if text := field.Tag.Get("desc"); text != "" {
			schema["description"] = text
		}
		into[name] = schema
	}
	*required = append(*required, requiredMembers(t)...)
	slices.Sort(*required)
}

// members yields the fields of a struct with their names in JSON, those of embedded structs as its own.
func members(t reflect.Type) func(func(reflect.StructField, string) bool) {
	return func(yield func(reflect.StructField, string) bool) {
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.Anonymous && name != "" && !yield(field, name) {
				return
			}
		}
	}
}

// requiredMembers are the names that a value of this type always has in JSON.
func requiredMembers(t reflect.Type) (names []string) {
	for field, name := range members(t) {
		if options := field.Tag.Get("json"); !strings.Contains(options, ",omit") {
			names = append(names, name)
		}
	}
	return names
}
