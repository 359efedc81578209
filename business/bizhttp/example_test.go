package bizhttp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"sayso/business/bizhttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// A reader that pinned the registry's root verifies what a publisher's page leads to.
func ExampleVerifyURL() {
	source := newRegistry(new(testing.B)) // a registry in memory, with a publisher called "published"
	server := httptest.NewServer(bizhttp.Handler(bizhttp.HandlerOptions{Source: source}))
	defer server.Close()
	source.site.Origin = server.URL

	policy := bizhttp.Bounds()
	policy.Loopback = []string{safefetch.LoopbackOf(server.URL)}
	result, err := bizhttp.VerifyURL(context.Background(), server.URL+"/b/published", bizhttp.Options{
		Fetch: safefetch.New(policy), Clock: source.Now, Root: source.pin(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := result.Verdict
	fmt.Println(v.Kind, "of", v.Publisher)
	fmt.Println("signature", v.Signature.Value)
	fmt.Println("identity", v.Identity.Value)
	fmt.Println("authority", v.Authority.Value)
	fmt.Println("revocation", v.Revocation.Value, "as of", v.Revocation.AsOf.Format("15:04"))
	fmt.Println("usable", v.Usable.Value)
	// Output:
	// manifest of published
	// signature valid
	// identity confirmed
	// authority current
	// revocation clean as of 12:00
	// usable yes
}

// A program asks a business, and says nothing where it may not.
func ExampleAsk() {
	desk := newDesk(new(testing.B)) // a registry on this machine, with a publisher called "published" that answers

	policy := bizhttp.AskBounds()
	policy.Loopback = []string{safefetch.LoopbackOf(desk.url)} // leave this out for the internet
	options := bizhttp.Options{Clock: desk.Now, Root: desk.pin()}
	say := func(question bizhttp.Question) {
		options.Fetch = safefetch.New(policy) // one for each question: its bound of requests is for life
		answer, err := bizhttp.Ask(context.Background(), desk.url+"/b/published", question, options)
		switch {
		case err != nil:
			fmt.Println("could not ask:", err) // says nothing about the business
		case !answer.Usable():
			fmt.Println("refused:", answer.Verdict.Usable.Message)
		default:
			fmt.Println(answer.Conclusion.Status, answer.Conclusion.Statements)
		}
	}
	say(bizhttp.Question{Query: "How much is the frame?"})
	say(bizhttp.Question{Query: "What are your opening hours?"})
	say(bizhttp.Question{Query: "What are your opening hours?", Follow: map[string]jcs.Raw{"location": jcs.Raw(`"north"`)}})

	options.Root = nil // nobody who pinned nothing gets an answer
	say(bizhttp.Question{Query: "How much is the frame?"})
	// Output:
	// resolved ["Frame" ["product/frame"], price: 50.0 "EUR" "Frame" ["product/frame"]: text last changed at 2026-11-29T10:00:00Z]
	// needs_context []
	// resolved [at "Northgate" ["north"], hours: "Mo-Fr 10:00-18:00"]
	// refused: do not act on this document: who signed it is not confirmed
}
