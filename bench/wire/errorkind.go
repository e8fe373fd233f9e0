package wire

import "net/http"

// An ErrorKind is one of the seven published kinds of failure, or KindNone.
type ErrorKind uint8

// The seven kinds, in the order of the dataset's codes. They are published and
// never renumbered.
const (
	KindNone      ErrorKind = iota
	KindAuth                // the key is missing, wrong or lacks permission: our fault
	KindQuota               // out of credit, or the plan does not cover it: our fault
	KindRateLimit           // more requests than the plan allows
	KindServer              // the provider failed
	KindTimeout             // a deadline passed, ours or the provider's own
	KindNetwork             // the connection failed
	KindMalformed           // the answer cannot be used
)

var kindNames = [...]string{"", "auth", "quota", "rate_limit", "server", "timeout", "network", "malformed"}

// String returns the kind's published name; "" for KindNone.
func (k ErrorKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Detail is a short code that says more than the kind: a fixed vocabulary of
// ours, never text of a provider's.
type Detail string

// A Failure is the verdict on a request that went wrong. It holds no text of
// the provider's, so it may be stored and shown.
type Failure struct {
	Kind   ErrorKind
	Detail Detail
	Status int // HTTP status, or the inner code of an error inside a 200 stream; 0 if none
	Retry  Retry
}

// A Retry is when a provider asks to be tried again; zero if it does not say.
type Retry struct {
	DelayMS  int64 // from now, milliseconds
	AtUnixMS int64 // at an instant (Retry-After as a date), Unix milliseconds
}

// Classify gives the verdict on a response with an HTTP error status: status
// first, body overrides. At most the first 64 KiB of the body are looked at.
func Classify(status int, header http.Header, body []byte) Failure {
	panic("being written")
}
