package wire

import (
	"net/http"
	"strings"
	"testing"
)

// h builds a header from name, value pairs.
func h(pairs ...string) http.Header {
	out := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Add(pairs[i], pairs[i+1])
	}
	return out
}

const cloudflare1010 = `<!DOCTYPE html><html><head><title>Access denied | opencode.ai used Cloudflare to restrict access</title></head><body>Error code: 1010</body></html>`

// TestClassify is the table of error responses. Bodies are in the documented or
// reported form of the provider named; texts are shortened.
func TestClassify(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		kind   ErrorKind
		detail Detail
	}{
		// The status alone.
		{"400", 400, nil, "", KindMalformed, DetailBadRequest},
		{"401", 401, nil, "", KindAuth, DetailBadKey},
		{"402", 402, nil, "", KindQuota, DetailNoCredit},
		{"403", 403, nil, "", KindAuth, DetailForbidden},
		{"404", 404, nil, "", KindMalformed, DetailNotFound},
		{"404 page", 404, nil, "404 page not found\n", KindMalformed, DetailNotFound},
		{"405", 405, nil, `{"detail":"Method Not Allowed"}`, KindMalformed, DetailBadRequest},
		{"408", 408, nil, "", KindTimeout, DetailProviderSlow},
		{"409", 409, nil, "", KindMalformed, DetailBadRequest},
		{"410", 410, nil, "", KindMalformed, DetailNotFound},
		{"413", 413, nil, "<html>413 Request Entity Too Large</html>", KindMalformed, DetailTooLarge},
		{"418", 418, nil, "", KindMalformed, DetailBadRequest},
		{"422", 422, nil, "", KindMalformed, DetailBadRequest},
		{"429", 429, nil, "", KindRateLimit, DetailThrottled},
		{"451", 451, nil, "", KindMalformed, DetailBlocked},
		{"498 Groq flex tier", 498, nil, "", KindServer, DetailOverloaded},
		{"499", 499, nil, "", KindServer, DetailCancelled},
		{"500", 500, nil, "", KindServer, DetailInternal},
		{"501", 501, nil, "", KindServer, DetailInternal},
		{"502 page", 502, nil, "<html><h1>502 Bad Gateway</h1>nginx</html>", KindServer, DetailUpstream},
		{"503", 503, nil, "", KindServer, DetailOverloaded},
		{"504", 504, nil, "", KindServer, DetailUpstream},
		{"520 Cloudflare", 520, nil, "error code: 520", KindServer, DetailUpstream},
		{"524 Cloudflare", 524, nil, "error code: 524", KindServer, DetailUpstream},
		{"529 Anthropic", 529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, KindServer, DetailOverloaded},
		{"530 Cloudflare", 530, nil, "error code: 1033", KindServer, DetailUpstream},
		{"302", 302, h("Location", "https://login.example/"), "", KindMalformed, DetailRedirect},
		{"no status", 0, nil, "", KindMalformed, DetailForeign},
		{"999", 999, nil, "", KindMalformed, DetailForeign},

		// Keys.
		{"OpenAI bad key", 401, nil, `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, KindAuth, DetailBadKey},
		{"xAI bad key under 400", 400, nil, `{"code":"invalid-argument","error":"Incorrect API key provided."}`, KindAuth, DetailBadKey},
		{"Gemini bad key under 400", 400, nil, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, KindAuth, DetailBadKey},
		{"Gemini in an array, without alt=sse", 400, nil, `[{"error":{"code":400,"message":"x","details":[{"reason":"API_KEY_INVALID"}]}}]`, KindAuth, DetailBadKey},
		{"Anthropic bad key", 401, nil, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, KindAuth, DetailBadKey},
		{"OpenCode bad key", 401, nil, `{"type":"error","error":{"type":"AuthError","message":"Invalid API key."}}`, KindAuth, DetailBadKey},
		{"Mistral bad key", 401, nil, `{"detail":"Invalid API Key"}`, KindAuth, DetailBadKey},
		{"Azure bad key", 401, nil, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, KindAuth, DetailBadKey},
		{"Anthropic permission", 403, nil, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission"}}`, KindAuth, DetailForbidden},
		{"Gemini permission", 403, nil, `{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}`, KindAuth, DetailForbidden},
		{"OpenAI region", 403, nil, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","type":"request_forbidden"}}`, KindAuth, DetailRegion},
		{"OpenCode region", 403, nil, `{"type":"error","error":{"type":"RegionError","message":"x"}}`, KindAuth, DetailRegion},
		{"Gemini region under 400", 400, nil, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, KindAuth, DetailRegion},

		// Money.
		{"DeepSeek balance", 402, nil, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, KindQuota, DetailNoCredit},
		{"OpenRouter credit", 402, nil, `{"error":{"code":402,"message":"Insufficient credits"}}`, KindQuota, DetailNoCredit},
		{"OpenAI quota under 429", 429, nil, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, KindQuota, DetailNoCredit},
		{"OpenAI billing", 429, nil, `{"error":{"message":"x","type":"invalid_request_error","code":"billing_hard_limit_reached"}}`, KindQuota, DetailNoCredit},
		{"Anthropic credit under 400", 400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, KindQuota, DetailNoCredit},
		{"OpenCode credit under 401", 401, nil, `{"type":"error","error":{"type":"CreditsError","message":"No payment method."}}`, KindQuota, DetailNoCredit},
		{"OpenCode monthly limit under 401", 401, nil, `{"type":"error","error":{"type":"MonthlyLimitError","message":"x"}}`, KindQuota, DetailSpendLimit},
		{"Ollama plan under 403", 403, nil, `{"error":"this model requires a subscription, upgrade for access: https://ollama.com/upgrade"}`, KindQuota, DetailPlanRequired},

		// Limits.
		{"OpenAI requests", 429, nil, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, KindRateLimit, DetailThrottled},
		{"Gemini words its limits as quota", 429, nil, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, KindRateLimit, DetailThrottled},
		{"Cerebras likewise", 429, nil, `{"message":"Tokens per minute limit exceeded","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`, KindRateLimit, DetailThrottled},
		{"Anthropic", 429, nil, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, KindRateLimit, DetailThrottled},
		{"Azure", 429, nil, `{"error":{"code":"RateLimitReached","message":"Your requests have exceeded rate limit."}}`, KindRateLimit, DetailThrottled},
		{"Ollama session", 429, nil, `{"error":"you (x) have reached your session usage limit, upgrade for higher limits"}`, KindRateLimit, DetailUsageLimit},
		{"OpenCode Go", 429, nil, `{"type":"error","error":{"type":"GoUsageLimitError","message":"x"}}`, KindRateLimit, DetailUsageLimit},
		{"OpenCode free", 429, nil, `{"type":"error","error":{"type":"FreeUsageLimitError","message":"x"}}`, KindRateLimit, DetailUsageLimit},
		{"Cloudflare rate limit", 429, nil, "error code: 1015", KindRateLimit, DetailThrottled},

		// Models.
		{"OpenAI model", 404, nil, `{"error":{"message":"The model 'x' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, KindMalformed, DetailModelNotFound},
		{"Anthropic model", 404, nil, `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`, KindMalformed, DetailModelNotFound},
		{"Gemini model", 404, nil, `{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}`, KindMalformed, DetailModelNotFound},
		{"Ollama model", 404, nil, `{"error":"model 'x' not found"}`, KindMalformed, DetailModelNotFound},
		{"Azure deployment", 404, nil, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, KindMalformed, DetailModelNotFound},
		{"OpenCode model under 401", 401, nil, `{"type":"error","error":{"type":"ModelError","message":"Model x is not supported"}}`, KindMalformed, DetailModelNotFound},
		{"OpenRouter model under 400", 400, nil, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, KindMalformed, DetailModelNotFound},
		{"Mistral model under 400", 400, nil, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`, KindMalformed, DetailModelNotFound},
		{"retired model", 410, nil, `{"error":{"message":"The model x has been deprecated","code":"gone"}}`, KindMalformed, DetailModelNotFound},
		{"vLLM model", 404, nil, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":null,"code":404}`, KindMalformed, DetailModelNotFound},

		// Requests.
		{"cap field", 400, nil, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, KindMalformed, DetailBadRequest},
		{"stream_options", 400, nil, `{"error":{"message":"Unknown parameter: 'stream_options'","type":"invalid_request_error"}}`, KindMalformed, DetailStreamOptions},
		{"stream_options, FastAPI", 422, nil, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, KindMalformed, DetailStreamOptions},
		{"OpenCode Go session", 400, nil, `{"type":"error","error":{"type":"MissingSessionID","message":"Request is missing x-opencode-session"}}`, KindMalformed, DetailBadRequest},
		{"Azure prompt filter", 400, nil, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, KindMalformed, DetailContentFilter},
		{"OpenRouter moderation", 403, nil, `{"error":{"code":403,"message":"x","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, KindMalformed, DetailContentFilter},

		// Firewalls.
		{"Cloudflare 1010", 403, nil, "error code: 1010", KindMalformed, DetailBlocked},
		{"Cloudflare 1010 page", 403, h("Server", "cloudflare"), cloudflare1010, KindMalformed, DetailBlocked},
		{"Cloudflare 1020", 403, nil, "error code: 1020\n", KindMalformed, DetailBlocked},
		{"Cloudflare as JSON", 403, nil, `{"title":"Error 1010","status":403,"error_code":1010,"cloudflare_error":true}`, KindMalformed, DetailBlocked},
		{"Cloudflare challenge", 403, h("Cf-Mitigated", "challenge"), "", KindMalformed, DetailBlocked},
		{"another firewall's page", 403, nil, "<html><h1>403 Forbidden</h1></html>", KindMalformed, DetailBlocked},
		{"no firewall: its name in a provider's report", 403, nil, `{"error":{"message":"no access to @cf/cloudflare/model","code":"forbidden"}}`, KindAuth, DetailForbidden},

		// Servers.
		{"OpenAI 500", 500, nil, `{"error":{"message":"The server had an error","type":"server_error"}}`, KindServer, DetailInternal},
		{"a 5xx that speaks of keys is still the server's", 500, nil, `{"error":{"message":"invalid api key upstream","type":"authentication_error"}}`, KindServer, DetailInternal},
		{"Gemini 503", 503, nil, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, KindServer, DetailOverloaded},
		{"overloaded under 500", 500, nil, `{"error":{"type":"overloaded_error","message":"x"}}`, KindServer, DetailOverloaded},

		// A body that is hostile changes nothing.
		{"cut JSON", 401, nil, `{"error":{"message":"Incorrect API`, KindAuth, DetailBadKey},
		{"not JSON", 400, nil, "\x00\xff\xfe{", KindMalformed, DetailBadRequest},
		{"deep", 429, nil, strings.Repeat(`{"error":`, 100_000), KindRateLimit, DetailThrottled},
		{"deep arrays", 429, nil, strings.Repeat("[", 100_000), KindRateLimit, DetailThrottled},
		{"duplicate keys", 401, nil, `{"error":{"type":"AuthError"},"error":{"type":"CreditsError"}}`, KindQuota, DetailNoCredit},
		{"null error", 404, nil, `{"error":null}`, KindMalformed, DetailNotFound},

		// A status of 2xx: the body alone.
		{"200 empty", 200, nil, "", KindMalformed, DetailEmptyBody},
		{"204", 204, nil, "", KindMalformed, DetailEmptyBody},
		{"200 page", 200, nil, "\n<!doctype html><html>Sign in</html>", KindMalformed, DetailHTML},
		{"200 answer in one piece", 200, nil, `{"object":"chat.completion","choices":[{"message":{"content":"Hi"}}]}`, KindMalformed, DetailNonStreaming},
		{"200 text", 200, nil, "ok", KindMalformed, DetailForeign},
		{"200 report with a status", 200, nil, `{"error":{"message":"x","code":429}}`, KindRateLimit, DetailThrottled},
		{"200 report without", 200, nil, `{"error":{"message":"boom"}}`, KindServer, DetailInStream},
	}
	if len(tests) < 60 {
		t.Fatalf("only %d rows", len(tests))
	}
	names := map[string]bool{}
	for _, tt := range tests {
		if names[tt.name] {
			t.Errorf("two rows are named %q", tt.name)
		}
		names[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			got := Classify(tt.status, tt.header, []byte(tt.body))
			if got.Kind != tt.kind || got.Detail != tt.detail {
				t.Errorf("Classify(%d, %s) = %s, %s; want %s, %s", tt.status, tt.body[:min(len(tt.body), 80)], got.Kind, got.Detail, tt.kind, tt.detail)
			}
			if want := tt.status; tt.status/100 != 2 && got.Status != want {
				t.Errorf("status = %d, want %d", got.Status, want)
			}
		})
	}
}

// TestRetry is the table of hints when to come again.
func TestRetry(t *testing.T) {
	delay := func(ms int64) Retry { return Retry{DelayMS: ms} }
	at := func(ms int64) Retry { return Retry{AtUnixMS: ms} }
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   Retry
	}{
		{"none", 429, nil, "", Retry{}},
		{"seconds", 429, h("Retry-After", "7"), "", delay(7000)},
		{"seconds, a fraction", 429, h("Retry-After", "1.5"), "", delay(1500)},
		{"days", 429, h("Retry-After", "262144"), "", delay(262144000)},
		{"zero", 429, h("Retry-After", "0"), "", Retry{}},
		{"negative", 429, h("Retry-After", "-5"), "", Retry{}},
		{"NaN", 429, h("Retry-After", "NaN", "Retry-After-Ms", "NaN"), "", Retry{}},
		{"beyond belief", 429, h("Retry-After", "1e300"), "", Retry{}},
		{"more digits than belief", 429, h("Retry-After", "99999999999999999999"), "", delay(maxDelayMS)},
		{"nonsense", 429, h("Retry-After", "soon"), "", Retry{}},
		// 1994-11-06 08:49:37 UTC, the instant of RFC 9110's examples.
		{"IMF date", 503, h("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), "", at(784111777000)},
		{"RFC 850 date", 503, h("Retry-After", "Sunday, 06-Nov-94 08:49:37 GMT"), "", at(784111777000)},
		{"asctime date", 503, h("Retry-After", "Sun Nov  6 08:49:37 1994"), "", at(784111777000)},
		{"milliseconds", 429, h("Retry-After-Ms", "250"), "", delay(250)},
		{"both: the longer", 429, h("Retry-After", "1", "Retry-After-Ms", "0"), "", delay(1000)},
		{"OpenAI resets: of what is used up", 429, h("X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "1m30s",
			"X-Ratelimit-Remaining-Tokens", "100", "X-Ratelimit-Reset-Tokens", "6h"), "", delay(90_000)},
		{"OpenAI resets: milliseconds round up", 429, h("X-Ratelimit-Reset-Requests", "6.2ms"), "", delay(7)},
		{"resets: the longer of two", 429, h("X-Ratelimit-Reset-Requests", "2s", "X-Ratelimit-Reset-Tokens", "1m0s"), "", delay(60_000)},
		{"resets say nothing but after a 429", 500, h("X-Ratelimit-Reset-Requests", "1m30s"), "", Retry{}},
		{"plain seconds", 429, h("X-Ratelimit-Reset-Tokens", "45"), "", delay(45_000)},
		{"seconds since 1970", 429, h("X-Ratelimit-Reset", "1741305600"), "", at(1741305600000)},
		{"milliseconds since 1970 (OpenRouter)", 429, h("X-Ratelimit-Reset", "1741305600000"), "", at(1741305600000)},
		{"Anthropic", 429, h("Anthropic-Ratelimit-Tokens-Remaining", "0", "Anthropic-Ratelimit-Tokens-Reset", "2025-03-07T00:00:00Z",
			"Anthropic-Ratelimit-Requests-Remaining", "9", "Anthropic-Ratelimit-Requests-Reset", "2025-03-08T00:00:00Z"), "", at(1741305600000)},
		{"Retry-After before resets", 429, h("Retry-After", "3", "X-Ratelimit-Reset-Requests", "1h"), "", delay(3000)},
		{"Gemini", 429, nil, `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"48.939s"}]}}`, delay(48_939)},
		{"in the body", 429, nil, `{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}`, delay(3_600_000)},
		{"OpenRouter's headers in the body", 429, nil, `{"error":{"code":429,"metadata":{"headers":{"X-RateLimit-Reset":"1741305600000"}}}}`, at(1741305600000)},
		{"hostile", 429, nil, `{"error":{"resets_in_seconds":-1,"retry_after":"x","details":[{"retryDelay":"1y"}]}}`, Retry{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Classify(tt.status, tt.header, []byte(tt.body)).Retry; got != tt.want {
				t.Errorf("retry = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestErrorKindNames(t *testing.T) {
	want := []string{"", "auth", "quota", "rate_limit", "server", "timeout", "network", "malformed", "unknown"}
	for code, name := range want {
		if got := ErrorKind(code).String(); got != name {
			t.Errorf("kind %d is %q, want %q: the codes are published", code, got, name)
		}
	}
}
