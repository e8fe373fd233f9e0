package bench

import (
	"bytes"
	"regexp"
)

// A keyShape is what a kind of credential looks like: a fixed beginning, and
// what follows it.
type keyShape struct {
	name  string
	begin string
	rest  *regexp.Regexp
	digit bool // the rest must have one, as words have not
}

// keyShapes are the credentials that have a shape of their own, the longer
// beginnings first. Sources: the vendors' own pages where they say it, else the
// keys in the examples of their documentation.
//
//   - OpenAI, Anthropic, OpenRouter, Groq, xAI, Perplexity, Hugging Face and
//     others: https://docs.github.com/en/code-security/reference/secret-security/supported-secret-scanning-patterns
//   - Google: https://cloud.google.com/docs/authentication/api-keys, "AIzaSy…", 39 characters
//   - GitHub: https://github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available/
//   - AWS: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, "Understanding unique ID prefixes"
//   - JSON Web Token: RFC 7519, section 3; a header begins with {" and so with eyJ
//   - Bearer: RFC 6750, section 2.1; Basic: RFC 7617, section 2
//   - private keys: RFC 7468, sections 10 and 11
var keyShapes = []keyShape{
	{"an Anthropic key", "sk-ant-", regexp.MustCompile(`^[A-Za-z0-9_-]{16}`), false},
	{"an OpenRouter key", "sk-or-", regexp.MustCompile(`^[A-Za-z0-9_-]{16}`), false},
	{"an OpenAI key", "sk-proj-", regexp.MustCompile(`^[A-Za-z0-9_-]{16}`), false},
	{"an OpenAI key", "sk-svcacct-", regexp.MustCompile(`^[A-Za-z0-9_-]{16}`), false},
	// Hyphens would make a key of task-names-with-many-parts.
	{"a key of the form sk-…", "sk-", regexp.MustCompile(`^[A-Za-z0-9]{20}`), false},
	{"a Google API key", "AIza", regexp.MustCompile(`^[A-Za-z0-9_-]{35}`), false},
	{"a Groq key", "gsk_", regexp.MustCompile(`^[A-Za-z0-9]{20}`), false},
	{"an xAI key", "xai-", regexp.MustCompile(`^[A-Za-z0-9]{20}`), false},
	{"a Perplexity key", "pplx-", regexp.MustCompile(`^[A-Za-z0-9]{20}`), false},
	{"a Hugging Face token", "hf_", regexp.MustCompile(`^[A-Za-z0-9]{30}`), false},
	{"an NVIDIA key", "nvapi-", regexp.MustCompile(`^[A-Za-z0-9_-]{20}`), false},
	{"a GitHub token", "github_pat_", regexp.MustCompile(`^[A-Za-z0-9_]{20}`), false},
	{"a GitHub token", "ghp_", regexp.MustCompile(`^[A-Za-z0-9_]{36}`), false},
	{"a GitHub token", "gho_", regexp.MustCompile(`^[A-Za-z0-9_]{36}`), false},
	{"a GitHub token", "ghu_", regexp.MustCompile(`^[A-Za-z0-9_]{36}`), false},
	{"a GitHub token", "ghs_", regexp.MustCompile(`^[A-Za-z0-9_]{36}`), false},
	{"a GitHub token", "ghr_", regexp.MustCompile(`^[A-Za-z0-9_]{36}`), false},
	{"an AWS access key", "AKIA", regexp.MustCompile(`^[A-Z2-7]{16}(?:[^A-Za-z0-9]|$)`), false},
	{"an AWS access key", "ASIA", regexp.MustCompile(`^[A-Z2-7]{16}(?:[^A-Za-z0-9]|$)`), false},
	{"a JSON Web Token", "eyJ", regexp.MustCompile(`^[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8}`), false},
	{"a bearer token", "Bearer ", regexp.MustCompile(`^[A-Za-z0-9._~+/-]{16,}`), true},
	{"a user and password", "Basic ", regexp.MustCompile(`^[A-Za-z0-9+/]{12,}={0,2}`), true},
	{"a private key", "-----BEGIN ", regexp.MustCompile(`^(?:[A-Z]+ ){0,2}PRIVATE KEY-----`), false},
}

// KeyShape returns what kind of credential a text holds by its looks, as in "a
// GitHub token"; "" if it holds none. It finds what no secret of ours is, such
// as a key that somebody else gave to a server which repeats it. Placeholders
// like sk-... and words like Bearer KEY have no such shape.
func KeyShape(text []byte) string {
	for i := range keyShapes {
		shape := &keyShapes[i]
		begin := []byte(shape.begin)
		for at := 0; ; at++ {
			n := bytes.Index(text[at:], begin)
			if n < 0 {
				break
			}
			at += n
			if inWord(text[:at]) {
				continue // ask-me, task-12
			}
			rest := shape.rest.Find(text[at+len(begin):])
			if rest != nil && !(shape.digit && !bytes.ContainsAny(rest, "0123456789")) {
				return "the shape of " + shape.name
			}
		}
	}
	return ""
}

// inWord reports whether what follows a text goes on with a word of it. The end
// of an escape, as of JSON's or a URL's, is no word.
func inWord(before []byte) bool {
	n := len(before)
	if n == 0 || !isWord(before[n-1]) {
		return false
	}
	return !(n >= 2 && before[n-2] == '\\' || // \n
		n >= 3 && before[n-3] == '%' || // %3D
		n >= 6 && before[n-6] == '\\' && before[n-5] == 'u') // \u003e
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
