package factshttp

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/jcs"
)

// maxBody bounds a POST body (F§15).
const maxBody = 16 << 10

// routeOfBody takes no query parameters: everything stands in the body.
const routeOfBody facts.Route = ""

// servePost answers POST /f: a JSON object {keys, max_age?, as_of?, period?}, read strictly.
func (h *handler) servePost(x *exchange) error {
	if _, err := h.query(x, routeOfBody); err != nil {
		var refused *facts.ParameterError
		if errors.As(err, &refused) && slices.Contains(facts.RouteBatch.Parameters(), refused.Parameter) {
			refused.Message = "POST takes no query parameters; put " + refused.Parameter + " into the JSON body"
		}
		return err
	}
	h.negotiate(x, h.Pages.Batch != nil)
	body, err := readBody(x.w, x.r)
	if err != nil {
		return err
	}
	keys, selection, err := parseBatchBody(body)
	if err != nil {
		return err
	}
	sel, err := selection.Selection()
	if err != nil {
		return err
	}
	return h.sendBatch(x, keys, sel)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	mediaType, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := parameters["charset"]
	if err != nil || mediaType != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return nil, &problem{kind: kindMediaType, message: "the body must be application/json in UTF-8"}
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, &problem{kind: kindMediaType, message: "the body must not be content-encoded"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, &problem{kind: kindTooLarge, message: "the body may have at most 16 KiB; send several batches"}
		}
		return nil, &problem{kind: kindBody, message: "the body ended before it was complete"}
	}
	return body, nil
}

// parseBatchBody reads the members by hand, because every refusal names its member: an unknown one, a wrong type, an empty list.
func parseBatchBody(body []byte) (keys []string, selection facts.Params, err error) {
	members, err := jcs.Members(body)
	if err != nil {
		var refused *jcs.Error
		if errors.As(err, &refused) && refused.Kind == jcs.KindDuplicate && strings.Count(refused.Pointer, "/") == 1 {
			return nil, nil, &facts.ParameterError{Parameter: refused.Pointer[1:], Message: "the body is not acceptable: " + refused.Error()}
		}
		return nil, nil, &problem{kind: kindBody, message: "the body is not one strict JSON object: " + err.Error()}
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	if err := facts.CheckNames(facts.RouteBatch.Parameters(), names); err != nil {
		return nil, nil, err
	}
	selection = facts.Params{}
	for _, m := range members {
		if m.Name == "keys" {
			if keys, err = parseKeys(m.Value); err != nil {
				return nil, nil, err
			}
			continue
		}
		text, ok := jsonString(m.Value)
		if !ok || text == "" {
			return nil, nil, &facts.ParameterError{Parameter: m.Name, Message: m.Name + " must be a string that is not empty"}
		}
		selection[m.Name] = text
	}
	if keys == nil {
		return nil, nil, &facts.ParameterError{Parameter: "keys", Message: "keys is missing: a list of 1 to 50 keys"}
	}
	return keys, selection, nil
}

// parseKeys applies the limits of a comma list to a JSON array.
func parseKeys(value jcs.Raw) ([]string, error) {
	var elements []jcs.Raw
	if len(value) == 0 || value[0] != '[' || jcs.Decode(value, &elements) != nil {
		return nil, &facts.ParameterError{Parameter: "keys", Message: "keys must be a list of strings"}
	}
	if len(elements) == 0 {
		return nil, &facts.ParameterError{Parameter: "keys", Message: "keys names no key; name 1 to 50"}
	}
	keys := make([]string, len(elements))
	for i, element := range elements {
		key, ok := jsonString(element)
		if !ok || strings.Contains(key, ",") {
			return nil, &facts.ParameterError{Parameter: "keys", Message: "keys must be a list of strings without commas"}
		}
		keys[i] = key
	}
	return facts.SplitKeys(strings.Join(keys, ","), "keys")
}

// jsonString decodes a JSON string; null and every other type is refused.
func jsonString(value jcs.Raw) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' || jcs.Decode(value, &text) != nil {
		return "", false
	}
	return text, true
}
