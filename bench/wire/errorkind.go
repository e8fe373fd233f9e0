package wire

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

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

// Details of [KindMalformed] that a body gives, whatever its status.
const (
	DetailTruncated       Detail = "truncated"         // the body ended with neither a finish reason nor an end marker
	DetailNoVisibleOutput Detail = "no_visible_output" // complete, but without visible text: often the whole budget was spent thinking
	DetailRefusal         Detail = "refusal"           // the model refused, and said nothing else
	DetailContentFilter   Detail = "content_filter"    // prompt or answer was blocked by a filter
	DetailToolCall        Detail = "tool_call"         // complete, but only with a tool call
	DetailEmptyBody       Detail = "empty_body"        // the body ended before its first event
	DetailHTML            Detail = "html"              // a web page, as proxies and captive portals send
	DetailNonStreaming    Detail = "non_streaming"     // one JSON answer instead of a stream
	DetailForeign         Detail = "foreign"           // not in the format asked for
	DetailBadJSON         Detail = "bad_json"          // a frame that is no JSON
	DetailOversize        Detail = "oversize"          // over MaxFrame or MaxBody
)

// Details of [KindMalformed] that an HTTP or in-stream error gives.
const (
	DetailBadRequest    Detail = "bad_request"
	DetailStreamOptions Detail = "stream_options" // the request was rejected for its stream_options
	DetailModelNotFound Detail = "model_not_found"
	DetailNotFound      Detail = "not_found" // the address, as far as the body tells
	DetailTooLarge      Detail = "too_large"
	DetailBlocked       Detail = "blocked" // a firewall in front of the provider turned us away
	DetailRedirect      Detail = "redirect"
)

// Details of the other kinds.
const (
	DetailBadKey       Detail = "bad_key"       // auth
	DetailForbidden    Detail = "forbidden"     // auth: the key is good, but not for this
	DetailRegion       Detail = "region"        // auth: not served where we are
	DetailNoCredit     Detail = "no_credit"     // quota
	DetailPlanRequired Detail = "plan_required" // quota: the plan does not cover the model
	DetailSpendLimit   Detail = "spend_limit"   // quota: a limit that the account's owner set
	DetailThrottled    Detail = "throttled"     // rate_limit: requests or tokens per minute
	DetailUsageLimit   Detail = "usage_limit"   // rate_limit: a window of hours or days
	DetailOverloaded   Detail = "overloaded"    // server, as are the next three
	DetailUpstream     Detail = "upstream"      // a gateway's own provider failed
	DetailCancelled    Detail = "cancelled"
	DetailInternal     Detail = "internal"
	DetailInStream     Detail = "in_stream"     // server: an error inside a 200 stream that says nothing more
	DetailProviderSlow Detail = "provider_slow" // timeout: the provider's own deadline
	DetailRead         Detail = "read"          // network: reading the body failed
)

// A Failure is the verdict on a request that went wrong. It holds no text of
// the provider's, so it may be stored and shown.
type Failure struct {
	Kind   ErrorKind
	Detail Detail
	Status int // HTTP status, or the inner code of an error inside a 200 stream; 0 if none
	Retry  Retry
}

// OK reports whether f is the verdict on a request that did not fail.
func (f Failure) OK() bool { return f.Kind == KindNone }

// maxClassified is how much of an error body is looked at. The reports of all
// providers on record are under 4 KiB.
const maxClassified = 64 << 10

// Classify gives the verdict on a response that is no stream of events: status
// first, body overrides. At most the first 64 KiB of the body are looked at.
//
// A status of 2xx is judged by the body alone: a report of an error, a web
// page, an answer in one piece, or nothing.
func Classify(status int, header http.Header, body []byte) Failure {
	body = body[:min(len(body), maxClassified)]
	r := readReport(body)
	r.edge = r.edge || header.Get("Cf-Mitigated") != "" // Cloudflare's challenge
	if status >= 200 && status < 300 {
		return judgeWhole(body, r, status)
	}
	f := r.override(status)
	if f.Kind == KindNone {
		f = byStatus(status, r)
	}
	f.Status = status
	f.Retry = r.retry(status, header)
	return f
}

// judgeWhole judges the body of a 2xx response that is no stream.
func judgeWhole(body []byte, r report, status int) Failure {
	f := Failure{Kind: KindMalformed, Status: status}
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	switch {
	case r.found:
		return r.inStream()
	case len(text) == 0:
		f.Detail = DetailEmptyBody
	case text[0] == '<':
		f.Detail = DetailHTML
	case text[0] == '{', text[0] == '[':
		f.Detail = DetailNonStreaming
	default:
		f.Detail = DetailForeign
	}
	return f
}

// byStatus gives the verdict that an HTTP status alone implies.
func byStatus(status int, r report) Failure {
	switch {
	case status == 401:
		return Failure{Kind: KindAuth, Detail: DetailBadKey}
	case status == 402:
		return Failure{Kind: KindQuota, Detail: DetailNoCredit}
	case status == 403:
		return Failure{Kind: KindAuth, Detail: DetailForbidden}
	case status == 404:
		return Failure{Kind: KindMalformed, Detail: DetailNotFound}
	case status == 408:
		return Failure{Kind: KindTimeout, Detail: DetailProviderSlow}
	case status == 413:
		return Failure{Kind: KindMalformed, Detail: DetailTooLarge}
	case status == 429:
		return Failure{Kind: KindRateLimit, Detail: DetailThrottled}
	case status == 451:
		return Failure{Kind: KindMalformed, Detail: DetailBlocked}
	case status == 498: // Groq: flex tier capacity exceeded
		return Failure{Kind: KindServer, Detail: DetailOverloaded}
	case status == 499: // the provider's own client gave up; nginx and gRPC CANCELLED
		return Failure{Kind: KindServer, Detail: DetailCancelled}
	case status >= 300 && status < 400:
		return Failure{Kind: KindMalformed, Detail: DetailRedirect}
	case status >= 400 && status < 500:
		return Failure{Kind: KindMalformed, Detail: DetailBadRequest}
	case status == 503, status == 529:
		return Failure{Kind: KindServer, Detail: DetailOverloaded}
	case status == 502, status == 504, status >= 520 && status <= 527, status == 530: // 52x, 530: Cloudflare could not reach the origin
		return Failure{Kind: KindServer, Detail: DetailUpstream}
	case status >= 500 && status < 600:
		if r.has("overloaded", "overloaded_error") {
			return Failure{Kind: KindServer, Detail: DetailOverloaded}
		}
		return Failure{Kind: KindServer, Detail: DetailInternal}
	}
	return Failure{Kind: KindMalformed, Detail: DetailForeign} // no status of HTTP's
}

// override gives the verdict of a body that says more than its status, or none.
// Codes are preferred; texts are matched only where a provider sends no code.
func (r report) override(status int) Failure {
	client := status >= 400 && status < 500
	switch {
	case !client:

	// Billing, under 400 (Anthropic), 401 (OpenCode), 403 (Ollama), 429 (OpenAI).
	// A 429 whose text alone speaks of quota stays a rate limit: Google words
	// its limits per minute so.
	case r.has("insufficient_quota", "credits_error", "creditserror", "billing_error", "billing_not_active",
		"billing_hard_limit_reached", "insufficient_balance", "insufficient_credits", "credit_balance_exhausted"):
		return Failure{Kind: KindQuota, Detail: DetailNoCredit}
	case r.has("monthlylimiterror", "userlimiterror", "spend_limit_exceeded"):
		return Failure{Kind: KindQuota, Detail: DetailSpendLimit}
	case status != 429 && r.says("credit balance is too low", "insufficient balance", "insufficient credit", "no payment method"):
		return Failure{Kind: KindQuota, Detail: DetailNoCredit}
	case status != 429 && r.says("requires a subscription"):
		return Failure{Kind: KindQuota, Detail: DetailPlanRequired}

	case status == 429:
		if r.has("usage_limit_reached", "gousagelimiterror", "freeusagelimiterror") || r.says("usage limit") {
			return Failure{Kind: KindRateLimit, Detail: DetailUsageLimit}
		}

	case status == 403 && r.blocked():
		return Failure{Kind: KindMalformed, Detail: DetailBlocked}
	case r.has("regionerror", "unsupported_country_region_territory") && status != 400,
		status == 400 && r.says("user location is not supported"):
		return Failure{Kind: KindAuth, Detail: DetailRegion}

	case r.has("content_filter", "content_policy_violation", "responsibleaipolicyviolation"),
		status == 403 && (r.moderated || r.says("flagged by moderation", "requires moderation")):
		return Failure{Kind: KindMalformed, Detail: DetailContentFilter}

	case status == 401 || status == 403:
		if r.has("modelerror") {
			return Failure{Kind: KindMalformed, Detail: DetailModelNotFound}
		}

	// A bad key under 400: Gemini, xAI.
	case status != 404 && (r.has("api_key_invalid", "invalid_api_key", "authentication_error", "unauthenticated") ||
		r.says("incorrect api key", "invalid api key", "api key not valid", "api key expired")):
		return Failure{Kind: KindAuth, Detail: DetailBadKey}

	case status == 400 || status == 404 || status == 410 || status == 422:
		switch {
		case r.noModel(status):
			return Failure{Kind: KindMalformed, Detail: DetailModelNotFound}
		case r.says("stream_options"):
			return Failure{Kind: KindMalformed, Detail: DetailStreamOptions}
		case status == 410:
			return Failure{Kind: KindMalformed, Detail: DetailNotFound}
		}
	}
	return Failure{}
}

// noModel reports whether the report is that there is no such model.
func (r report) noModel(status int) bool {
	if r.has("model_not_found", "modelerror", "deploymentnotfound", "model_not_available", "invalid_model",
		"model_not_exist", "unknown_model", "model_not_supported", "model_decommissioned") {
		return true
	}
	if !strings.Contains(r.message, "model") {
		return false
	}
	return r.says("not found", "does not exist", "not exist", "not a valid model", "invalid model", "unknown model",
		"no such model", "model not supported", "decommissioned", "has been deprecated", "no endpoints found") ||
		status == 404 && r.has("not_found_error", "not_found")
}

// blocked reports whether a 403 comes from a firewall in front of the provider:
// Cloudflare's codes 1005 to 1020 or its challenge, or another's web page.
func (r report) blocked() bool {
	return r.edge || !r.found && (r.html || r.says("error code: 10", "cloudflare", "firewall"))
}

// inStream gives the verdict on an error report inside a 200 stream, by its
// inner status if it has one, else by its code. Once a stream has begun the
// request was accepted, so what says nothing clearer is the server's failure.
func (r report) inStream() Failure {
	f := Failure{Kind: KindServer, Detail: DetailInStream}
	switch {
	case r.status >= 400 && r.status < 600:
		f = r.override(r.status)
		if f.Kind == KindNone {
			f = byStatus(r.status, r)
		}
	case r.has("rate_limit_exceeded", "rate_limit_error", "too_many_requests", "resource_exhausted"):
		f = Failure{Kind: KindRateLimit, Detail: DetailThrottled}
	case r.has("authentication_error", "invalid_api_key", "unauthenticated"):
		f = Failure{Kind: KindAuth, Detail: DetailBadKey}
	case r.has("permission_error", "permission_denied"):
		f = Failure{Kind: KindAuth, Detail: DetailForbidden}
	case r.has("overloaded_error", "overloaded", "unavailable"):
		f = Failure{Kind: KindServer, Detail: DetailOverloaded}
	default:
		// As if the status were one that lets the body speak.
		if o := r.override(400); o.Kind == KindQuota || o.Kind == KindAuth || o.Detail == DetailContentFilter {
			f = o
		} else if r.says("usage limit") {
			f = Failure{Kind: KindRateLimit, Detail: DetailUsageLimit}
		} else if r.says("requires a subscription") {
			f = Failure{Kind: KindQuota, Detail: DetailPlanRequired}
		}
	}
	f.Status = r.status
	f.Retry = r.retry(r.status, nil)
	return f
}

// has reports whether one of the report's codes is one of those.
func (r report) has(codes ...string) bool {
	for _, c := range r.codes {
		if slices.Contains(codes, c) {
			return true
		}
	}
	return false
}

// says reports whether the report's text holds one of those.
func (r report) says(texts ...string) bool {
	for _, t := range texts {
		if strings.Contains(r.message, t) {
			return true
		}
	}
	return false
}
