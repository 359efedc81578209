package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
)

// startProvider serves a provider until the test ends, and returns its origin and what it answered.
func startProvider(t *testing.T, data string) (origin string, answer *bytes.Buffer) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"provider", "serve", "--json", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, http.NoBody, &out, io.Discard, nil)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("provider serve: exit %d", code)
		}
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var found instance
		text, err := os.ReadFile(filepath.Join(data, instanceFile))
		if err == nil && jcs.Decode(text, &found) == nil {
			if code, _, _ := invoke(t, nil, "health", "--data", data); code == 0 {
				return found.Origin, &out
			}
		}
	}
	t.Fatal("the provider never became ready")
	return "", nil
}

// TestProviderAnswers is a day of an operator: each answer compared with its schema, and each ban with what the running provider does.
func TestProviderAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	step := func(schema, args string, code exitCode) string {
		t.Helper()
		got, out, errs := invoke(t, nil, append([]string{"--json", "--data", "d"}, strings.Fields(args)...)...)
		if got != int(code) {
			t.Fatalf("%s: exit %d, want %d\n%s%s", args, got, code, out, errs)
		}
		conforms(t, schema, out)
		seen[schema+".json"] = true
		return out
	}
	step("failure", "provider bans", exitNotFound)
	origin, started := startProvider(t, "d")
	conforms(t, "provider-serve", started.String())
	seen["provider-serve.json"] = true
	step("provider-info", "provider info "+origin, exitOK)
	step("provider-info", "provider info "+origin+"/gidp/v1/", exitOK)

	client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: newFetch(origin), Now: time.Now, Random: rand.Reader})
	key := func() *jwk.PrivateKey {
		k, err := jwk.Generate("k", rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	publisher, asker := key(), key()
	ref, _, err := client.Publish(t.Context(), origin, publisher, providerhttp.Publication{Projection: &wire.DiscoveryProjection{
		ExpiresAt: time.Now().Add(24 * time.Hour), ProjectionID: "p1", Endpoint: origin + "/a2a/00112233445566778899aabbccddeeff", Geographies: []string{"munich"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	found := func() int {
		page, err := client.Candidates(t.Context(), origin, asker, providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"germany"}}})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Candidates)
	}
	becomes := func(want int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); found() != want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the provider never returned %d", want)
			}
		}
	}
	becomes(1)
	if err := client.Report(t.Context(), origin, asker, ref, providerhttp.ReasonProbing); err != nil {
		t.Fatal(err)
	}
	if out := step("provider-reports", "provider reports", exitOK); !strings.Contains(out, ref) || !strings.Contains(out, jwk.Thumbprint(publisher.Public().Public)) {
		t.Error(out)
	}
	step("failure", "provider ban --reason probing -- "+ref, exitUsage)
	step("failure", "provider ban --for 30d -- "+ref, exitUsage)
	step("failure", "provider ban --for 30d --network 203.0.113.0/24 --reason probing -- "+ref, exitUsage)
	step("failure", "provider ban --until 2020-01-01T00:00:00Z --reason probing -- "+ref, exitUsage)
	step("failure", "provider ban AAAAAAAAAAAAAAAAAAAAAA --for 30d --reason probing", exitNotFound)
	step("failure", "provider ban --network 0.0.0.0/0 --for 30d --reason probing", exitUsage)
	step("provider-ban", "provider ban --for 30d --reason probing -- "+ref, exitOK)
	becomes(0)
	_, err = client.Withdraw(t.Context(), origin, publisher, ref)
	if refused, ok := err.(*providerhttp.Refusal); !ok || refused.Code != provider.CodeBanned {
		t.Errorf("%v", err)
	}
	step("provider-ban", "provider ban --network 203.0.113.9/24 --until 2999-01-01T00:00:00Z --reason harvesting", exitOK)
	if out := step("provider-bans", "provider bans", exitOK); !strings.Contains(out, `"network":"203.0.113.0/24"`) || !strings.Contains(out, `"reason":"probing"`) {
		t.Error(out)
	}
	step("provider-ban", "provider unban --key "+jwk.Thumbprint(publisher.Public().Public), exitOK)
	becomes(1)
	step("failure", "provider unban -- "+ref, exitNotFound)
	step("provider-ban", "provider unban --network 203.0.113.0/24", exitOK)
	if out := step("provider-bans", "provider bans", exitOK); !strings.Contains(out, `"bans":[]`) {
		t.Error(out)
	}
	entries, err := fs.Glob(schemas, "schema/provider-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if !seen[filepath.Base(name)] {
			t.Errorf("no command answers by %s", name)
		}
	}
}

// What was acknowledged outlives the process: a withdrawn projection stays withdrawn, a published one is found again.
func TestProviderKeepsItsWord(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	keys := map[string]*jwk.PrivateKey{}
	var gone string
	t.Run("before", func(t *testing.T) {
		origin, _ := startProvider(t, data)
		client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: newFetch(origin), Now: time.Now, Random: rand.Reader})
		for _, name := range []string{"stays", "goes"} {
			k, err := jwk.Generate(name, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			ref, _, err := client.Publish(t.Context(), origin, k, providerhttp.Publication{Projection: &wire.DiscoveryProjection{
				ExpiresAt: time.Now().Add(24 * time.Hour), ProjectionID: name, Endpoint: origin + "/a2a/" + name, Geographies: []string{"munich"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			keys[name], gone = k, ref
		}
		if _, err := client.Withdraw(t.Context(), origin, keys["goes"], gone); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after", func(t *testing.T) {
		origin, _ := startProvider(t, data)
		client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: newFetch(origin), Now: time.Now, Random: rand.Reader})
		page, err := client.Candidates(t.Context(), origin, keys["goes"], providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"munich"}}})
		if err != nil || len(page.Candidates) != 1 || page.Candidates[0].ProjectionRef == gone {
			t.Errorf("%+v %v", page, err)
		}
	})
}
