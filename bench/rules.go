package bench

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	slugPattern       = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	identifierPattern = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*$`)
	modelNamePattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)
	headerNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
)

func checkSlug(s string) error {
	if len(s) > 40 || !slugPattern.MatchString(s) {
		return errors.New("use lower-case letters, digits and single hyphens, at most 40")
	}
	return nil
}

// checkProviderName accepts a provider's public name. Two are taken: artifacts
// of a run are named for the provider or the shard that they come from.
func checkProviderName(s string) error {
	if s == SharedLane || s == AllShards {
		return fmt.Errorf("%q names a shard of every provider; choose another", s)
	}
	return checkSlug(s)
}

func checkIdentifier(s string) error {
	if len(s) > 40 || !identifierPattern.MatchString(s) {
		return errors.New("use a field name of the request, such as max_tokens")
	}
	return nil
}

// checkModelName accepts what is safe as a public name everywhere: in a path,
// a spreadsheet cell, a terminal and a page. It begins with a letter or digit,
// so it is no formula, has no empty or dotted path segment, and does not look
// like a key.
func checkModelName(s string) error {
	if len(s) > 128 || !modelNamePattern.MatchString(s) {
		return errors.New("use letters, digits and . _ : / @ + - after a letter or digit, at most 128")
	}
	if KeyShape([]byte(s)) != "" {
		return errors.New("it looks like a key")
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || strings.Trim(segment, ".") == "" {
			return errors.New("no part between slashes may be empty or only dots")
		}
	}
	return nil
}

func checkGlob(s string) error {
	if strings.ContainsAny(s, "?[]{}\\ ") {
		return errors.New("in a glob only * is special; it stands for any run of characters")
	}
	if strings.Count(s, "*") > 8 {
		return errors.New("a glob has at most eight *")
	}
	return nil
}

func checkLink(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("use an absolute web address, as in https://example.com")
	}
	return nil
}

func checkPath(s string) error {
	if !strings.HasPrefix(s, "/") || strings.ContainsAny(strings.ReplaceAll(s, "{model}", ""), "{}?#$ ") || strings.Contains(s, "..") {
		return errors.New("use a path that begins with a slash, as in /deployments/{model}/chat/completions; query parameters go into query")
	}
	return nil
}

// checkKeyEnv accepts the name of a variable that can be a provider's key, and
// not the job's own token.
func checkKeyEnv(s string) error {
	if !isVariableName(s) {
		return errors.New("name the environment variable that holds the key, as in OPENAI_API_KEY; the key itself stays out of files")
	}
	for _, prefix := range []string{"GITHUB_", "ACTIONS_", "RUNNER_"} {
		if strings.HasPrefix(s, prefix) {
			return fmt.Errorf("%s variables belong to the job itself", prefix)
		}
	}
	return nil
}

func checkHeaderName(s string) error {
	if !headerNamePattern.MatchString(s) {
		return errors.New("not the name of a header")
	}
	switch http.CanonicalHeaderKey(s) {
	case "Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Accept-Encoding", "Connection", "Te", "Upgrade", "Trailer", "Expect":
		return errors.New("the method sets it")
	}
	return nil
}

// oneOf returns a check against a fixed list.
func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("%q is not one of %s%s", s, strings.Join(words, ", "), didYouMean(s, words))
		}
		return nil
	}
}

// globMatch reports whether s matches glob, in which * is any run of
// characters and everything else is itself.
func globMatch(glob, s string) bool {
	head, rest, star := strings.Cut(glob, "*")
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	if !star {
		return s == ""
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		_, after, ok := strings.Cut(s, part)
		if !ok {
			return false
		}
		s = after
	}
	return strings.HasSuffix(s, last)
}
