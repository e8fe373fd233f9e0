package simulate

import "time"

// A FaultKind is a way to fail.
type FaultKind uint8

// The ways to fail. Those up to FaultEmpty strike instead of an answer, the
// others within one, after Fault.After tokens of output.
const (
	FaultNone       FaultKind = iota
	FaultAuth                 // 401 (Gemini: 400 with reason API_KEY_INVALID)
	FaultQuota                // 402: no credit (Ollama: 403, the plan does not cover the model)
	FaultRateLimit            // 429 with Retry-After (Gemini: with RetryInfo in the body)
	FaultServer               // 500
	FaultOverloaded           // 503 (Anthropic: 529)
	FaultHang                 // no answer until the client gives up
	FaultClose                // the connection is closed in order, without an answer
	FaultReset                // the connection is reset, without an answer
	FaultHTML                 // 200 and a web page, as from a captive proxy
	FaultEmpty                // 200 and nothing

	FaultTruncate // the body ends in order, but too soon
	FaultResetMid // the connection is reset
	FaultHangMid  // silence until the client gives up
	FaultInBand   // the provider reports an error inside the 200 stream, and ends it
	FaultGarbage  // a frame that is not JSON, then the end of the body
	FaultLongLine // a frame of 10 MiB, then the end of the answer
	FaultEndless  // text without end, as fast as the client takes it
)

var faultNames = [...]string{
	"none", "auth", "quota", "rate_limit", "server", "overloaded", "hang", "close", "reset", "html", "empty",
	"truncate", "reset_mid", "hang_mid", "in_band", "garbage", "long_line", "endless",
}

// String returns the fault's name, as it stands in a [Record].
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return "unknown"
}

// refuses tells the faults that strike instead of an answer.
func (k FaultKind) refuses() bool { return k != FaultNone && k <= FaultEmpty }

// ErrorKind returns the published error kind of a request that failed so:
// "auth", "quota", "rate_limit", "server", "timeout", "network" or "malformed";
// "" for FaultNone.
func (k FaultKind) ErrorKind() string {
	switch k {
	case FaultNone:
		return ""
	case FaultAuth:
		return "auth"
	case FaultQuota:
		return "quota"
	case FaultRateLimit:
		return "rate_limit"
	case FaultServer, FaultOverloaded, FaultInBand:
		return "server"
	case FaultHang, FaultHangMid:
		return "timeout"
	case FaultClose, FaultReset, FaultResetMid:
		return "network"
	}
	return "malformed"
}

// A Fault is how, and how often, requests to a model fail.
type Fault struct {
	Kind       FaultKind
	Every      int           // fails the last of each Every requests; 0 and 1 are all of them
	After      int           // tokens of output, reasoning included, that leave before a fault within an answer
	Delay      time.Duration // request read to refusal, for a fault instead of an answer
	RetryAfter time.Duration // what a 429 asks for, in whole seconds
}

// strikes reports whether the nth request to a model, from 0, fails.
func (f Fault) strikes(n int) bool {
	return f.Kind != FaultNone && (f.Every <= 1 || n%f.Every == f.Every-1)
}
