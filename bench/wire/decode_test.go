package wire

import (
	"errors"
	"strings"
	"testing"
)

// A told is what a whole body came to, for tables.
type told struct {
	visible   string
	reasoning string
	finish    string
	usage     Usage
	verdict   Failure
}

// tell decodes a body and gathers its texts.
func tell(t *testing.T, p Protocol, body string) (told, *Reply) {
	t.Helper()
	var got told
	r := new(Reply)
	var last error
	for ev, err := range p.Decode(strings.NewReader(body)) {
		if err != nil {
			last = err
			break
		}
		got.visible += string(ev.Visible)
		got.reasoning += string(ev.Reasoning)
		r.Add(ev)
	}
	got.finish, got.usage, got.verdict = r.Finish, r.Usage, r.Verdict(last)
	return got, r
}

func malformed(d Detail) Failure { return Failure{Kind: KindMalformed, Detail: d} }

// events makes an event stream of data lines.
func events(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

type decodeTest struct {
	name string
	body string
	want told
}

func checkDecode(t *testing.T, p Protocol, tests []decodeTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := tell(t, p, tt.body); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestChatQuirks holds what the recordings do not show, made by hand after the
// documentation and reports of the providers named.
func TestChatQuirks(t *testing.T) {
	say := func(s string) string { return `{"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	inStream := Failure{Kind: KindServer, Detail: DetailInStream}
	checkDecode(t, OpenAIChat{}, []decodeTest{
		{"finish reason and no [DONE]", events(say("a"), stop), told{visible: "a", finish: "stop"}},
		{"[DONE] and no finish reason", events(say("a"), "[DONE]"), told{visible: "a"}},
		{"neither", events(say("a")), told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"[DONE] with spaces", events(say("a"), " [DONE] "), told{visible: "a"}},
		{"nothing", "", told{verdict: malformed(DetailEmptyBody)}},
		{"only keep-alives", ": hi\n\n: hi\n\n", told{verdict: malformed(DetailTruncated)}},
		{"only [DONE]", events("[DONE]"), told{verdict: malformed(DetailNoVisibleOutput)}},
		{"the last event is cut off", events(say("a")) + `data: {"choices":[{"del`, told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"an event in the middle is no JSON", events(say("a"), `{"choices":[{"del`, say("b"), stop), told{visible: "ab", finish: "stop", verdict: malformed(DetailBadJSON)}},
		{"two values in one event", events(say("a"), say("b")+say("c"), stop), told{visible: "a", finish: "stop", verdict: malformed(DetailBadJSON)}},
		{"spaces around the JSON", events(" \t"+say("a")+"  ", stop), told{visible: "a", finish: "stop"}},
		{"keep-alives in data", events(": keepalive", "ping", say("a"), stop), told{visible: "a", finish: "stop"}},
		{"null and empty fields", events(`{"id":null,"model":null,"choices":null,"usage":null,"error":null}`, `{"choices":[]}`,
			`{"choices":[{"index":0,"delta":null,"finish_reason":null}]}`, `{"choices":[{"delta":{"content":null,"reasoning":null,"refusal":null,"tool_calls":null}}]}`,
			say("a"), stop), told{visible: "a", finish: "stop"}},
		{"fields of the wrong type", events(`{"choices":{"delta":1},"usage":[1],"model":7,"error":""}`, `{"choices":[7,"x",null,{"delta":[1],"index":"0"}]}`,
			`{"choices":[{"delta":{"content":{"x":1},"reasoning":5}}]}`, say("a"), stop), told{visible: "a", finish: "stop"}},
		{"keys in any order", events(`{"choices":[{"finish_reason":"stop","delta":{"content":"b"},"index":1},{"delta":{"content":"a"},"finish_reason":"stop","index":0}]}`),
			told{visible: "a", finish: "stop"}},
		{"reasoning twice", events(`{"choices":[{"delta":{"reasoning":"r","reasoning_content":"r","reasoning_details":[{"type":"reasoning.text","text":"r"}]}}]}`, say("a"), stop),
			told{visible: "a", reasoning: "r", finish: "stop"}},
		{"reasoning only in details", events(`{"choices":[{"delta":{"reasoning":"","reasoning_details":[{"summary":"s"},{"text":"t"},{"data":"ENC"}]}}]}`, say("a"), stop),
			told{visible: "a", reasoning: "st", finish: "stop"}},
		{"content in parts", events(`{"choices":[{"delta":{"content":[{"thinking":[{"text":"r","type":"text"}],"type":"thinking"},{"text":"a","type":"text"},{"type":"reference","reference_ids":[1]}]}}]}`, stop),
			told{visible: "a", reasoning: "r", finish: "stop"}},
		{"message is not added", events(say("a"), `{"object":"chat.completion.done","choices":[{"index":0,"delta":{"content":""},"message":{"content":"a"},"finish_reason":"stop"}]}`),
			told{visible: "a", finish: "stop"}},
		{"refusal only", events(`{"choices":[{"delta":{"refusal":"no"}}]}`, stop), told{finish: "stop", verdict: malformed(DetailRefusal)}},
		{"filter before any text", events(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, "[DONE]"),
			told{finish: "content_filter", verdict: malformed(DetailContentFilter)}},
		{"budget spent thinking", events(`{"choices":[{"delta":{"reasoning":"r"}}]}`, `{"choices":[{"delta":{},"finish_reason":"length"}]}`),
			told{reasoning: "r", finish: "length", verdict: malformed(DetailNoVisibleOutput)}},
		{"tool call only", events(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`),
			told{finish: "tool_calls", verdict: malformed(DetailToolCall)}},

		{"error object", events(say("a"), `{"error":{"message":"boom","type":"server_error"}}`), told{visible: "a", verdict: inStream}},
		{"error with a status", events(`{"error":{"message":"slow down","code":429}}`), told{verdict: Failure{Kind: KindRateLimit, Detail: DetailThrottled, Status: 429}}},
		{"error with a status in a string", events(`{"error":{"message":"x","code":"502"}}`), told{verdict: Failure{Kind: KindServer, Detail: DetailUpstream, Status: 502}}},
		{"error as a string", events(`{"error":"boom"}`), told{verdict: inStream}},
		{"error, vLLM", events(`{"object":"error","message":"x","type":"BadRequestError","code":400}`), told{verdict: Failure{Kind: KindMalformed, Detail: DetailBadRequest, Status: 400}}},
		{"error event with text", "event: error\ndata: upstream gone\n\n", told{verdict: inStream}},
		{"error event without an error field", "event: error\ndata: {\"message\":\"x\",\"code\":503}\n\n", told{verdict: Failure{Kind: KindServer, Detail: DetailOverloaded, Status: 503}}},
		{"error field", events(say("a")) + "error: {\"code\":500,\"message\":\"x\"}\n\n", told{visible: "a", verdict: Failure{Kind: KindServer, Detail: DetailInternal, Status: 500}}},
		{"quota inside a stream", events(`{"error":{"code":"insufficient_quota","message":"x"}}`), told{verdict: Failure{Kind: KindQuota, Detail: DetailNoCredit}}},
		{"finish reason error alone (OpenRouter)", events(say("a"), `{"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`, "[DONE]"), told{visible: "a", finish: "error", verdict: inStream}},
		{"DeepSeek broke off", events(say("a"), `{"choices":[{"delta":{"content":""},"finish_reason":"insufficient_system_resource"}]}`, "[DONE]"),
			told{visible: "a", finish: "insufficient_system_resource", verdict: Failure{Kind: KindServer, Detail: DetailOverloaded}}},
		{"the outer status of a report counts", events(`{"error":{"metadata":{"code":500},"code":429,"details":[{"code":503}]}}`), told{verdict: Failure{Kind: KindRateLimit, Detail: DetailThrottled, Status: 429}}},
		{"usage in the choice (Moonshot)", events(say("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2}}]}`),
			told{visible: "a", finish: "stop", usage: Usage{Input: Known(1), Output: Known(2)}}},
		{"error in the choice", events(say("a"), `{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"x"}}]}`, "[DONE]"),
			told{visible: "a", finish: "error", verdict: Failure{Kind: KindServer, Detail: DetailUpstream, Status: 502}}},
		{"error after the finish reason, then usage", events(say("a"), `{"choices":[{"delta":{"content":""},"finish_reason":"length"}]}`,
			`{"error":{"code":400,"message":"Token limit reached"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, "[DONE]"),
			told{visible: "a", finish: "error", usage: Usage{Input: Known(3), Output: Known(4)}, verdict: Failure{Kind: KindMalformed, Detail: DetailBadRequest, Status: 400}}},
		{"JSON error body", `{"error":{"message":"x","code":401}}`, told{verdict: Failure{Kind: KindAuth, Detail: DetailBadKey, Status: 401}}},
		{"pretty JSON error in mid-stream", events(say("a")) + "{\n  \"error\": {\n    \"code\": 503\n  }\n}\n", told{visible: "a", verdict: Failure{Kind: KindServer, Detail: DetailOverloaded, Status: 503}}},
		{"JSON error in mid-stream, cut", events(say("a")) + "{\n  \"error\": {\n    \"code\": 503", told{visible: "a", verdict: Failure{Kind: KindServer, Detail: DetailOverloaded, Status: 503}}},

		{"web page", "<html>Sign in</html>", told{verdict: malformed(DetailHTML)}},
		{"answer in one piece", `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`, told{verdict: malformed(DetailNonStreaming)}},
		{"text", "no healthy upstream", told{verdict: malformed(DetailForeign)}},

		{"OpenCode cost frames", events(say("a"), stop, `{"choices":[],"x-opencode-type":"inference-cost","cost":"0.1","normalizedUsage":{"inputTokens":1}}`, "[DONE]", `{"choices":[],"cost":"0"}`),
			told{visible: "a", finish: "stop"}},
		{"usage after [DONE]", events(say("a"), "[DONE]", `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`),
			told{visible: "a", usage: Usage{Input: Known(1), Output: Known(2), Total: Known(3)}}},
		{"usage is never summed", events(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, say("a"), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, stop),
			told{visible: "a", finish: "stop", usage: Usage{Input: Known(9), Output: Known(2)}}},
		{"zero usage does not latch", events(`{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, say("a"), stop, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`),
			told{visible: "a", finish: "stop", usage: Usage{Input: Known(9), Output: Known(2), Total: Known(11)}}},
		{"hostile usage", events(say("a"), stop, `{"usage":{"prompt_tokens":-5,"completion_tokens":1e300,"total_tokens":NaN,"prompt_tokens_details":{"cached_tokens":1.5},"completion_tokens_details":{"reasoning_tokens":"x"}}}`),
			told{visible: "a", finish: "stop"}},
		{"usage in strings and floats", events(say("a"), stop, `{"usage":{"prompt_tokens":"12","completion_tokens":3.0,"total_tokens":1.5e1}}`),
			told{visible: "a", finish: "stop", usage: Usage{Input: Known(12), Output: Known(3), Total: Known(15)}}},
		{"usage of Together, Copilot, DeepSeek", events(say("a"), stop, `{"usage":{"prompt_tokens":9,"completion_tokens":8,"prompt_cache_hit_tokens":7,"reasoning_tokens":6}}`),
			told{visible: "a", finish: "stop", usage: Usage{Input: Known(9), Output: Known(8), Cached: Known(7), Reasoning: Known(6)}}},
		{"x_groq usage and error", events(say("a"), `{"choices":[],"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":2},"error":"x"}}`),
			told{visible: "a", usage: Usage{Input: Known(1), Output: Known(2)}, verdict: inStream}},

		{"escapes", events(say(`\u0048\t\"\\\/é\ud83d\ude00`), stop), told{visible: "H\t\"\\/é😀", finish: "stop"}},
		{"escaped key", events(`{"choices":[{"delta":{"c\u006fntent":"a"}}]}`, stop), told{visible: "a", finish: "stop"}},
		{"invalid UTF-8 and NUL stay", events(say("a\xff\x00b"), stop), told{visible: "a\xff\x00b", finish: "stop"}},
		{"deep nesting", events(`{"x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`,"choices":[{"delta":{"content":"a"}}]}`, stop), told{visible: "a", finish: "stop"}},
		{"duplicate keys: the last wins", events(`{"choices":[{"delta":{"content":"x","content":"a"}}]}`, stop), told{visible: "a", finish: "stop"}},
	})
}

func TestResponsesQuirks(t *testing.T) {
	const delta = `{"type":"response.output_text.delta","delta":"a"}`
	checkDecode(t, OpenAIResponses{}, []decodeTest{
		{"type in the event name only", "event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\nevent: response.completed\ndata: {\"response\":{}}\n\n",
			told{visible: "a", finish: "completed"}},
		{"type before event name", "event: message\ndata: " + delta + "\n\ndata: {\"type\":\"response.completed\"}\n\n", told{visible: "a", finish: "completed"}},
		{"no terminal event", events(delta), told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"[DONE] is no terminal event", events(delta, "[DONE]"), told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"done texts are not added", events(delta, `{"type":"response.output_text.done","text":"a"}`, `{"type":"response.content_part.done","part":{"type":"output_text","text":"a"}}`, `{"type":"response.completed","response":{"output":[{"content":[{"text":"a"}]}]}}`),
			told{visible: "a", finish: "completed"}},
		{"cap met", events(delta, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":5,"output_tokens":300,"total_tokens":305,"output_tokens_details":{"reasoning_tokens":100}}}}`),
			told{visible: "a", finish: "incomplete:max_output_tokens", usage: Usage{Input: Known(5), Output: Known(300), Reasoning: Known(100), Total: Known(305)}}},
		{"cap met, but called completed", events(delta, `{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`),
			told{visible: "a", finish: "incomplete:max_output_tokens"}},
		{"filtered", events(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`),
			told{finish: "incomplete:content_filter", verdict: malformed(DetailContentFilter)}},
		{"cost ping after the end (OpenCode)", events(delta, `{"type":"response.completed","response":{}}`) + "event: ping\ndata: {\"type\":\"ping\",\"cost\":\"0.1\"}\n\n",
			told{visible: "a", finish: "completed"}},
		{"rate limit inside", events(`{"type":"error","code":"rate_limit_exceeded","message":"x"}`, `{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"x"}}}`),
			told{finish: "failed", verdict: Failure{Kind: KindRateLimit, Detail: DetailThrottled}}},
		{"the second report says more", events(`{"type":"error","message":"x"}`, `{"type":"response.failed","response":{"error":{"code":"insufficient_quota"}}}`),
			told{finish: "failed", verdict: Failure{Kind: KindQuota, Detail: DetailNoCredit}}},
		{"failed without a word", events(`{"type":"response.failed","response":{"error":null}}`), told{finish: "failed", verdict: Failure{Kind: KindServer, Detail: DetailInStream}}},
		{"both kinds of reasoning", events(`{"type":"response.reasoning_summary_text.delta","delta":"s"}`, `{"type":"response.reasoning_text.delta","delta":"t"}`, delta, `{"type":"response.completed"}`),
			told{visible: "a", reasoning: "st", finish: "completed"}},
	})
}

func TestAnthropicQuirks(t *testing.T) {
	start := `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":56,"output_tokens":1}}}`
	text := `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
	stop := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":291,"output_tokens":7}}`
	end := `{"type":"message_stop"}`
	usage := Usage{Input: Known(291), Output: Known(7), CachedApart: true}
	first := Usage{Input: Known(56), CachedApart: true} // its output is a placeholder
	checkDecode(t, Anthropic{}, []decodeTest{
		{"the delta corrects the start (OpenCode)", events(`{"type":"ping"}`, start, text, stop, end, `{"type":"ping","cost":"0.1"}`), told{visible: "a", finish: "end_turn", usage: usage}},
		{"stop reason without message_stop", events(start, text, stop), told{visible: "a", finish: "end_turn", usage: usage, verdict: malformed(DetailTruncated)}},
		{"cut off before its count", events(start, text, text), told{visible: "aa", usage: first, verdict: malformed(DetailTruncated)}},
		{"[DONE] is no end", events(start, text, "[DONE]"), told{visible: "a", usage: first, verdict: malformed(DetailTruncated)}},
		{"[DONE] after the end", events(start, text, stop, end) + "event: data\ndata: [DONE]\n\n", told{visible: "a", finish: "end_turn", usage: usage}},
		{"text at the start of a block", events(start, `{"type":"content_block_start","content_block":{"type":"text","text":"b"}}`, text, stop, end), told{visible: "ba", finish: "end_turn", usage: usage}},
		{"thinking, signature, citation", events(start, `{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"t"}}`, `{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"s"}}`,
			`{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"cited_text":"c","text":"c"}}}`, text, stop, end), told{visible: "a", reasoning: "t", finish: "end_turn", usage: usage}},
		{"tool only", events(start, `{"type":"content_block_start","content_block":{"type":"tool_use","input":{}}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}`, stop, end),
			told{finish: "end_turn", usage: usage, verdict: malformed(DetailToolCall)}},
		{"refusal", events(start, `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":1}}`, end), told{finish: "refusal", usage: Usage{Input: Known(56), Output: Known(1), CachedApart: true}, verdict: malformed(DetailRefusal)}},
		{"overloaded in mid-stream", events(start, text) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			told{visible: "a", usage: first, verdict: Failure{Kind: KindServer, Detail: DetailOverloaded}}},
		{"type in the event name only", "event: content_block_delta\ndata: {\"delta\":{\"text\":\"a\"}}\n\nevent: message_stop\ndata: {}\n\n", told{visible: "a"}},
	})
}

func TestGeminiQuirks(t *testing.T) {
	say := func(s string) string { return `{"candidates":[{"content":{"parts":[{"text":"` + s + `"}]}}]}` }
	const stop = `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}`
	checkDecode(t, Gemini{}, []decodeTest{
		{"finish reason with the last text", events(say("a"), stop), told{visible: "ab", finish: "STOP"}},
		{"text after a finish reason goes on", events(stop, say("a")), told{visible: "ba", finish: "STOP", verdict: malformed(DetailTruncated)}},
		{"usage after the finish reason", events(stop, `{"usageMetadata":{"candidatesTokenCount":1}}`), told{visible: "b", finish: "STOP", usage: Usage{Output: Known(1), ReasoningApart: true}}},
		{"unspecified is none", events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`), told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"blocked prompt", events(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`),
			told{finish: "blocked:SAFETY", usage: Usage{Input: Known(4), Total: Known(4), ReasoningApart: true}, verdict: malformed(DetailContentFilter)}},
		{"blocked answer", events(`{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}]}`), told{finish: "PROHIBITED_CONTENT", verdict: malformed(DetailContentFilter)}},
		{"budget spent thinking", events(`{"candidates":[{"finishReason":"MAX_TOKENS","content":{}}]}`), told{finish: "MAX_TOKENS", verdict: malformed(DetailNoVisibleOutput)}},
		{"thought, in either order", events(`{"candidates":[{"content":{"parts":[{"text":"r","thought":true},{"thought":true,"text":"s"},{"thought":false,"text":"a"},{"thoughtSignature":"x"}]}}]}`, stop), told{visible: "ab", reasoning: "rs", finish: "STOP"}},
		{"second candidate", events(`{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"},{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`), told{visible: "a", finish: "STOP"}},
		{"parts of the wrong type", events(`{"candidates":[{"content":{"parts":{"text":"x"}}},7]}`, `{"candidates":[{"content":"x"}]}`, `{"candidates":{}}`, stop), told{visible: "b", finish: "STOP"}},
		{"error event", events(say("a"), `{"error":{"code":503,"status":"UNAVAILABLE"}}`), told{visible: "a", verdict: Failure{Kind: KindServer, Detail: DetailOverloaded, Status: 503}}},
		{"array, without alt=sse", "[" + say("a") + ",\n" + stop + "]", told{verdict: malformed(DetailNonStreaming)}},
		{"error in an array", "[{\n\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"33s\"}]}}]",
			told{verdict: Failure{Kind: KindRateLimit, Detail: DetailThrottled, Status: 429, Retry: Retry{DelayMS: 33000}}}},
	})
}

func TestOllamaQuirks(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	const a = `{"model":"m","message":{"role":"assistant","content":"a"},"done":false}`
	const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}`
	usage := Usage{Input: Known(3), Output: Known(4)}
	checkDecode(t, Ollama{}, []decodeTest{
		{"plain", lines(a, done), told{visible: "a", finish: "stop", usage: usage}},
		{"thinking", lines(`{"message":{"content":"","thinking":"t"}}`, a, done), told{visible: "a", reasoning: "t", finish: "stop", usage: usage}},
		{"generate", lines(`{"response":"","thinking":"t","done":false}`, `{"response":"a","done":true,"done_reason":"length"}`), told{visible: "a", reasoning: "t", finish: "length"}},
		{"no last line", lines(a), told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"last line cut off", a + "\n" + done[:40], told{visible: "a", verdict: malformed(DetailTruncated)}},
		{"line in the middle cut off", lines(a, a[:30], a, done), told{visible: "aa", finish: "stop", usage: usage, verdict: malformed(DetailBadJSON)}},
		{"loaded, nothing said", lines(`{"message":{"content":""},"done_reason":"load","done":true}`), told{finish: "load", verdict: malformed(DetailNoVisibleOutput)}},
		{"error line", lines(a, `{"error":"an error was encountered while running the model"}`), told{visible: "a", verdict: Failure{Kind: KindServer, Detail: DetailInStream}}},
		{"error body", "{\n  \"error\": \"model 'x' not found\"\n}\n", told{verdict: Failure{Kind: KindServer, Detail: DetailInStream}}},
		{"usage limit inside a stream", lines(`{"error":"you (x) have reached your weekly usage limit"}`), told{verdict: Failure{Kind: KindRateLimit, Detail: DetailUsageLimit}}},
		{"tool only", lines(`{"message":{"content":"","tool_calls":[{"function":{"name":"f"}}]}}`, done), told{finish: "stop", usage: usage, verdict: malformed(DetailToolCall)}},
		{"web page", "<html>\n", told{verdict: malformed(DetailHTML)}},
		{"event stream", events(a), told{verdict: malformed(DetailForeign)}},
		{"nothing", "", told{verdict: malformed(DetailEmptyBody)}},
	})
}

// TestServerTiming checks the units of what providers say of their own time.
func TestServerTiming(t *testing.T) {
	tests := []struct {
		name  string
		proto Protocol
		body  string
		want  ServerTiming
	}{
		{"Groq", OpenAIChat{}, events(`{"choices":[],"usage":{"queue_time":0.25,"prompt_time":0.5,"completion_time":2,"total_time":2.5}}`), ServerTiming{QueueMS: 250, PromptMS: 500, DecodeMS: 2000, TotalMS: 2500}},
		{"Cerebras", OpenAIChat{}, events(`{"choices":[],"time_info":{"queue_time":0.25,"prompt_time":0.5,"completion_time":2,"total_time":2.5,"created":1}}`), ServerTiming{QueueMS: 250, PromptMS: 500, DecodeMS: 2000, TotalMS: 2500}},
		{"llama.cpp", OpenAIChat{}, events(`{"choices":[],"timings":{"prompt_ms":9,"predicted_ms":484,"predicted_per_second":117.5}}`), ServerTiming{PromptMS: 9, DecodeMS: 484, DecodeTPS: 117.5}},
		{"Azure", OpenAIChat{}, events(`{"choices":[],"latency_checkpoint":{"engine_tbt_ms":20,"service_ttft_ms":300,"service_ttlt_ms":4000,"pre_inference_ms":40}}`), ServerTiming{QueueMS: 40, TTFTMS: 300, TotalMS: 4000, DecodeTPS: 50}},
		{"Ollama", Ollama{}, `{"done":true,"total_duration":3000000000,"load_duration":1000000,"prompt_eval_duration":2000000,"eval_count":100,"eval_duration":2000000000}`, ServerTiming{QueueMS: 1, PromptMS: 2, DecodeMS: 2000, TotalMS: 3000, DecodeTPS: 50}},
		{"Ollama Cloud", Ollama{}, `{"done":true,"total_duration":3000000000,"eval_count":100}`, ServerTiming{TotalMS: 3000}},
		{"hostile", Ollama{}, `{"done":true,"total_duration":-1,"load_duration":"x","prompt_eval_duration":NaN,"eval_count":100,"eval_duration":1e999}`, ServerTiming{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, r := tell(t, tt.proto, tt.body); r.Server != tt.want {
				t.Errorf("got %+v, want %+v", r.Server, tt.want)
			}
		})
	}
}

// TestNames checks model and backend, bounded and made valid UTF-8.
func TestNames(t *testing.T) {
	_, r := tell(t, OpenAIChat{}, events(`{"model":"","provider":"P"}`, `{"model":"gpt\u002d4\ufffd"}`, `{"model":"`+strings.Repeat("é", 500)+`x"}`))
	if r.Backend != "P" || r.Model != strings.Repeat("é", maxLabel/2) {
		t.Errorf("backend %q, model %q", r.Backend, r.Model)
	}
	_, r = tell(t, Gemini{}, events("{\"modelVersion\":\"a\xff\x1b[31m\"}"))
	if r.Model != "a\ufffd\x1b[31m" {
		t.Errorf("model %q", r.Model)
	}
}

// TestThinkLeak finds "</think>" in visible text, also split over events.
func TestThinkLeak(t *testing.T) {
	tests := []struct {
		pieces []string
		want   bool
	}{
		{[]string{"a</think>b"}, true},
		{[]string{"a</th", "ink>"}, true},
		{[]string{"<", "<", "/", "t", "h", "i", "n", "k", ">"}, true},
		{[]string{"</thin", "g>"}, false},
		{[]string{"<think>"}, false},
		{[]string{"</</think>"}, true},
	}
	for _, tt := range tests {
		var r Reply
		for i, p := range tt.pieces {
			r.Add(Event{Index: i, Visible: []byte(p)})
		}
		if r.ThinkLeak != tt.want {
			t.Errorf("%q: leak = %v, want %v", tt.pieces, r.ThinkLeak, tt.want)
		}
	}
}

// TestCounts checks that Add returns what each event brought.
func TestCounts(t *testing.T) {
	var r Reply
	for _, step := range []struct {
		ev                 Event
		visible, reasoning int64
	}{
		{Event{Index: 0, Reasoning: []byte("ab")}, 0, 2},
		{Event{Index: -1}, 0, 0},
		{Event{Index: 1, Visible: []byte("h\xc3")}, 2, 0}, // the é starts here
		{Event{Index: 2, Visible: []byte("\xa9 !")}, 2, 0},
	} {
		if v, g := r.Add(step.ev); v != step.visible || g != step.reasoning {
			t.Errorf("event %d brought %d, %d; want %d, %d", step.ev.Index, v, g, step.visible, step.reasoning)
		}
	}
	first, ok1 := r.FirstVisible()
	thought, ok2 := r.FirstReasoning()
	if first != 1 || thought != 0 || !ok1 || !ok2 || r.DataEvents != 3 || r.Comments != 1 || r.Visible.Chars != 4 || r.Visible.Words != 2 {
		t.Errorf("first %d, thought %d, %+v", first, thought, r)
	}
}

// TestEarlyStop checks that a caller may stop, and that a body's error ends it.
func TestEarlyStop(t *testing.T) {
	n := 0
	for range (OpenAIChat{}).Decode(strings.NewReader(events("{}", "{}", "{}"))) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("stopped after %d", n)
	}
	errs := 0
	for _, err := range (OpenAIChat{}).Decode(strings.NewReader("<html>\ndata: {}\n\n")) {
		if err != nil {
			if errs++; !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v does not wrap ErrMalformed", err)
			}
		}
	}
	if errs != 1 {
		t.Errorf("%d errors, want 1", errs)
	}
}
