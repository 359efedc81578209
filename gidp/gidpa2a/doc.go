// Package gidpa2a carries GIDP 0.1 over A2A 1.0, both sides: the initiator is an A2A client ([Client]), the responder an A2A server ([NewHandler]), for the whole
// session. What a session is and does is not decided here: a server hands messages to a [Host], a client hands back what its peer shows.
//
// # One task is one session
//
//	initiator                                   responder
//	SendMessage, no object            -->       Message                    hello: is the extension in force?
//	SendMessage(SessionOpen)          -->       Task, artifact 000001      SessionAccept or SessionClose
//	SendMessage(CompatibilityRequest) -->       Task as it was             an acknowledgement, never the answer
//	GetTask, SubscribeToTask          -->       Task, artifact 000002      the answer, when it may be seen
//
// The contextId is the session_id, the taskId is made by the responder. Everything the responder says is one artifact appended to the task: its id is a number of six
// digits without a gap, and it never changes. The state of the task is WORKING, INPUT_REQUIRED while a request of the responder has no answer, COMPLETED when the
// session is closed for whatever reason. There is no status message and no history.
//
// # Metadata
//
// A message or artifact has one text part, "gidp", which nobody reads, and metadata keys below the extension's URI ([ExtensionURI] or a configured one):
//
//	URI/object    the GIDP object; canonical when a Host gets it
//	URI/key       public JWK of the session: with a SessionOpen, and beside a SessionAccept on plain loopback
//	URI/sig       detached JWS over the object ([SignObject])
//	URI/evidence  evidence and credentials; beside a Handoff to a person or a workflow {"target_ref": "human:REF"} or {"target_ref": "workflow:REF"}, which is the
//	              entry of the consent that covers it, so that a consent covers one kind of target
//	URI/hint      {"poll_after_s": seconds} beside a SessionAccept
//	URI/pad       brings an artifact to a multiple of a kibibyte; ignored
//
// # Addresses
//
//	/a2a/REF/.well-known/agent-card.json   the card, the same for every reference but for URL and signature, whether it is live or not
//	/a2a/REF/rpc                           JSON-RPC
//	/a2a/REF/v1/...                        HTTP+JSON
//
// REF has 32 lower-case hex digits. A [Client] appends /rpc to the endpoint of a projection and reads no card, so that a peer cannot send it elsewhere.
//
// # What a server checks, in this order
//
//  1. the path; at most 256 KiB of body; one JSON value under the strict profile of package jcs
//  2. A2A-Version is 1.0, otherwise -32009
//  3. A2A-Extensions: lines and comma lists, each URI once. With our URI in it the answer names it too; without it a message is answered by a message and there are
//     no tasks
//  4. the parts of the message belong together; a network opens no more sessions in a minute than it may
//  5. the signature (package httpsig, profile Session), by the key of the SessionOpen, or by the key that opened the session. A nonce of an open is taken once
//  6. the Host
//
// The body is read before the signature is checked, because the key of an open stands in it; nothing of it has an effect before. The whole of it happens before the
// first byte of an answer, so that an error never stands in a stream that began well.
//
// # Time
//
// An artifact has an instant before which it is not shown ([Artifact], [Release]), whoever asks and however. The answer to a SessionOpen is held until the first
// artifact is shown. Every other reply to a message that reaches the [Host], an error too, is held to the next multiple of a tick after receipt ([Options]): committing an
// answer takes another time than holding a question for a person, and charging a budget another than reading none. What is looked up for GetTask is what is shown,
// so that is answered at once. Streams pull from [Host]: a snapshot, then each artifact once and each change of state, a comment every 15 seconds.
//
// # Errors
//
// A [Refusal] tells an operational outcome and never a result of the protocol. On the wire:
//
//	Invalid      -32602  400     NotFound     -32001  404     Closed  -32004  400
//	Denied       -31401  401     Unavailable  -32000  503     Limited -32000  429, the last two with Retry-After
//
// The HTTP status of JSON-RPC is 200 but for 401, 413, 429 and 503. All texts are constants.
//
// # The SDK
//
// The handlers of github.com/a2aproject/a2a-go write answers, in the form of their binding. They read nothing that a peer sent: encoding/json takes duplicate names,
// foreign spellings of names and numbers that it rounds. No type of the SDK is in an exported signature.
package gidpa2a
