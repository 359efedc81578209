package wire_test

import (
	"errors"
	"fmt"

	"sayso/gidp/wire"
)

// What is read is one of the twelve objects, whole, or nothing: a member that is not known refuses it.
func ExampleDecode() {
	o, err := wire.Decode([]byte(`{"type":"SessionClose","version":"gidp/0.1","session_id":"s-1","expires_at":"2031-01-02T13:00:00+01:00","reason":"declined","request_ref":null}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := wire.Encode(o)
	fmt.Printf("%s\n", text)

	_, err = wire.Decode([]byte(`{"type":"SessionClose","version":"gidp/0.1","session_id":"s-1","expires_at":"2031-01-02T12:00:00Z","reason":"declined","price":7}`))
	var refused *wire.Error
	fmt.Println(errors.As(err, &refused) && refused.Code == wire.CodeMalformed)
	// Output:
	// {"expires_at":"2031-01-02T12:00:00Z","reason":"declined","session_id":"s-1","type":"SessionClose","version":"gidp/0.1"}
	// true
}
