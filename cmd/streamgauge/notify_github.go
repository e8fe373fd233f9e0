package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

const (
	issueLabel   = "streamgauge-incident"
	issuePages   = 10              // of a hundred issues that are looked through
	issueRounds  = 3               // looks, if what became of a request is not known
	maxNewIssues = 10              // that one run opens; the next one opens more
	spareCalls   = 50              // of the token's hourly allowance are left to the other jobs
	issuePause   = 2 * time.Second // between writes; GitHub asks for one at least
	closedBefore = time.Hour       // how much older than the incident an issue may have been updated
)

// A tracker is the issues of a GitHub repository, as far as they are ours.
//
// An issue is ours if it has our label, was opened by our login, and its body
// begins with our marker: anybody may write the marker, but neither set the
// label nor write as the job. The marker says which incident it is about, so
// that a second run finds it and changes nothing. Two runs at once could both
// open one, as GitHub knows no condition on creating; the workflow's concurrency
// group keeps runs apart, and if it ever fails the next run closes the younger.
type tracker struct {
	client *retryablehttp.Client
	api    string // https://api.github.com
	repo   string // OWNER/NAME
	token  string
	login  string                      // whose issues are ours
	pause  func(context.Context) error // between two writes
	guard  *bench.Redactor             // what no issue may hold
	left   int                         // calls that GitHub allows; -1 if it did not say
	wrote  bool
	label  bool // our label is known to be there
}

func newTracker(api, repo, token, login string) *tracker {
	return &tracker{
		client: newNotifyClient(func(method string, resp *http.Response) bool {
			switch {
			case resp == nil:
				return method != http.MethodPost // it may have arrived
			case limited(resp):
				return true // it was not carried out
			}
			return resp.StatusCode >= 500 && method != http.MethodPost
		}),
		api: strings.TrimSuffix(api, "/"), repo: repo, token: token, login: login, left: -1,
		pause: func(ctx context.Context) error { return sleepUntil(ctx, time.Now().Add(issuePause)) },
	}
}

// An issue is what of a GitHub issue matters here.
type issue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	State  string `json:"state"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	Pull    *struct{} `json:"pull_request"`
	Created time.Time `json:"created_at"`

	marker marker
}

// A marker is the first line of an issue's body: which incident it is about,
// and what was last written. It holds nothing but hexadecimal digits, so that
// nothing a provider chose can end it or forge another.
type marker struct {
	id, subject string
	state       string // that we gave the issue
	text        string // digest of what we wrote
}

var markerLine = regexp.MustCompile(`^<!-- streamgauge incident=([0-9a-f]{16}) subject=([0-9a-f]{16}) state=(open|closed) text=([0-9a-f]{16}) -->`)

func (m marker) String() string {
	return fmt.Sprintf("<!-- streamgauge incident=%s subject=%s state=%s text=%s -->", m.id, m.subject, m.state, m.text)
}

func readMarker(body string) (marker, bool) {
	m := markerLine.FindStringSubmatch(body)
	if m == nil {
		return marker{}, false
	}
	return marker{m[1], m[2], m[3], m[4]}, true
}

// A draft is what an issue is to say.
type draft struct {
	title, body string
	state       string // open or closed
	reason      string // of closing, as GitHub names them
}

// mark puts the marker before the body.
func (d *draft) mark(id, subject string) marker {
	sum := sha256.Sum256([]byte(d.title + "\x00" + d.body + "\x00" + d.state))
	m := marker{id, subject, d.state, hex.EncodeToString(sum[:8])}
	d.body = m.String() + "\n" + d.body
	return m
}

// newDraft writes an incident as an issue.
func newDraft(i *rollup.Incident, policy *rollup.Policy, siteURL string) draft {
	d := draft{title: cutRunes(headline(i), maxTitle), body: issueBody(i, policy, siteURL), state: "open"}
	if !i.Open() {
		d.state, d.reason = "closed", "completed"
		if i.Why != rollup.CloseRecovered {
			d.reason = "not_planned"
		}
	}
	return d
}

func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// A deed is a step as it was, or would be, taken.
type deed struct {
	what   rollup.Action
	number int // of the issue; 0 if it is not opened yet
	title  string
}

func (d deed) String() string {
	if d.number == 0 {
		return fmt.Sprintf("%s: %s", d.what, d.title)
	}
	return fmt.Sprintf("%s #%d: %s", d.what, d.number, d.title)
}

// An uncertainError is a request of which nobody knows what became.
type uncertainError struct{ err error }

func (e *uncertainError) Error() string { return e.err.Error() }
func (e *uncertainError) Unwrap() error { return e.err }

// errNoSuch is a 404.
var errNoSuch = errors.New("GitHub knows no such repository, issue or label, or the token may not see it (status 404): the job needs the permission 'issues: write'")

// errLater means that the rest is left to the next run.
var errLater = errors.New("the rest is left to the next run")

// sync makes the issues agree with the incidents, and tells each deed when it
// is done, or in a dry run would be.
func (t *tracker) sync(ctx context.Context, incidents []rollup.Incident, write func(*rollup.Incident) draft, dry bool, tell func(deed)) error {
	for round := 1; ; round++ {
		issues, err := t.issues(ctx, incidents)
		if err != nil {
			return fmt.Errorf("list issues: %w", err)
		}
		err = t.apply(ctx, issues, incidents, write, dry, tell)
		var unsure *uncertainError
		if err == nil || !errors.As(err, &unsure) || round == issueRounds {
			return err
		}
		if err := t.pause(ctx); err != nil {
			return err
		}
	}
}

// apply takes the steps that are missing.
func (t *tracker) apply(ctx context.Context, issues []issue, incidents []rollup.Incident, write func(*rollup.Incident) draft, dry bool, tell func(deed)) error {
	var told []rollup.Told
	for _, is := range issues {
		told = append(told, rollup.Told{ID: is.marker.id, Subject: is.marker.subject, Since: is.Created, Closed: is.State == "closed"})
	}
	opened := 0
	for _, step := range rollup.Reconcile(told, incidents) {
		var is *issue
		if step.Told >= 0 {
			is = &issues[step.Told]
		}
		d, needed := planIssue(step, is, issues, write)
		if !needed {
			continue
		}
		if step.Action == rollup.ActionOpen {
			if opened++; opened > maxNewIssues {
				return fmt.Errorf("more than %d issues to open: %w", maxNewIssues, errLater)
			}
		}
		done := deed{what: step.Action, title: d.title}
		if is != nil {
			done.number = is.Number
		}
		if !dry {
			number, err := t.write(ctx, is, d)
			if err != nil {
				return fmt.Errorf("%s: %w", done, err)
			}
			done.number = number
		}
		tell(done)
	}
	return nil
}

// planIssue returns what an issue is to become; needed is false if it is that.
func planIssue(step rollup.Step, is *issue, issues []issue, write func(*rollup.Incident) draft) (d draft, needed bool) {
	switch step.Action {
	case rollup.ActionOpen, rollup.ActionUpdate, rollup.ActionClose:
		d = write(step.Incident)
		m := d.mark(step.Incident.ID, step.Incident.Subject)
		return d, is == nil || is.marker != m
	}
	// What it said stays, under a line that says why it is closed.
	_, said, _ := strings.Cut(is.Body, "\n")
	note := "The record does not show this incident any more: samples that came late, or a changed configuration, cleared it."
	switch step.Action {
	case rollup.ActionFold:
		note = "This is part of a wider incident: " + codeSpan(headline(step.Incident)) + "."
	case rollup.ActionDuplicate:
		note = "This incident has an issue already"
		for _, other := range issues {
			if other.marker.id == step.Incident.ID && other.Number != is.Number {
				note += fmt.Sprintf(": #%d", other.Number)
				break
			}
		}
		note += "."
	}
	d = draft{title: is.Title, body: note + "\n\n" + said, state: "closed", reason: "not_planned"}
	d.mark(is.marker.id, is.marker.subject)
	return d, true
}

// issues returns our issues that matter to the incidents, oldest first: those
// that are open, and those that somebody else closed while an incident lasted.
func (t *tracker) issues(ctx context.Context, incidents []rollup.Incident) ([]issue, error) {
	query := url.Values{"labels": {issueLabel}, "state": {"open"}, "sort": {"created"}, "direction": {"asc"}}
	list, err := t.list(ctx, query)
	if err != nil {
		return nil, err
	}
	var since time.Time
	for i := range incidents {
		if in := &incidents[i]; in.Open() && in.Alarm() && (since.IsZero() || in.Opened.Before(since)) {
			since = in.Opened
		}
	}
	if !since.IsZero() {
		query.Set("state", "closed")
		query.Set("since", since.Add(-closedBefore).UTC().Format(time.RFC3339))
		closed, err := t.list(ctx, query)
		if err != nil {
			return nil, err
		}
		list = append(list, slices.DeleteFunc(closed, func(i issue) bool { return i.marker.state == "closed" })...)
	}
	slices.SortFunc(list, func(a, b issue) int { return cmp.Compare(a.Number, b.Number) })
	return slices.CompactFunc(list, func(a, b issue) bool { return a.Number == b.Number }), nil
}

// list returns those of the listed issues that are ours.
func (t *tracker) list(ctx context.Context, query url.Values) ([]issue, error) {
	query.Set("per_page", "100")
	var ours []issue
	for page := 1; ; page++ {
		if page > issuePages {
			return nil, fmt.Errorf("more than %d issues have the label %s", issuePages*100, issueLabel)
		}
		query.Set("page", fmt.Sprint(page))
		text, err := t.call(ctx, http.MethodGet, "/issues?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		var list []issue
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		for _, is := range list {
			m, ok := readMarker(is.Body)
			if !ok || is.Pull != nil || !strings.EqualFold(is.User.Login, t.login) {
				continue
			}
			is.marker = m
			ours = append(ours, is)
		}
		if len(list) < 100 {
			return ours, nil
		}
	}
}

// write opens an issue, or makes one say what it should, in one request, so that
// a crash leaves nothing half done.
func (t *tracker) write(ctx context.Context, is *issue, d draft) (number int, err error) {
	if t.left >= 0 && t.left < spareCalls {
		return 0, fmt.Errorf("GitHub allows %d more calls this hour: %w", t.left, errLater)
	}
	if text := d.title + "\n" + d.body; t.guard.String(text) != text {
		return 0, errHoldsSecret
	}
	if is == nil {
		if err := t.makeLabel(ctx); err != nil {
			return 0, err
		}
	}
	if err := t.beforeWrite(ctx); err != nil {
		return 0, err
	}
	fields := map[string]any{"title": d.title, "body": d.body}
	method, path := http.MethodPost, "/issues"
	if is != nil {
		method, path = http.MethodPatch, fmt.Sprintf("/issues/%d", is.Number)
		fields["state"] = d.state
		if d.reason != "" {
			fields["state_reason"] = d.reason
		}
	} else {
		fields["labels"] = []string{issueLabel}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return 0, err
	}
	text, err := t.call(ctx, method, path, body)
	if err != nil {
		return 0, err
	}
	var made struct {
		Number int `json:"number"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return 0, &uncertainError{fmt.Errorf("read the answer: %w", err)}
	}
	if is == nil && len(made.Labels) == 0 {
		return made.Number, t.addLabel(ctx, made.Number)
	}
	return made.Number, nil
}

// beforeWrite waits between two writes.
func (t *tracker) beforeWrite(ctx context.Context) error {
	if t.wrote {
		if err := t.pause(ctx); err != nil {
			return err
		}
	}
	t.wrote = true
	return nil
}

// makeLabel makes sure that our label is there before an issue is opened: one
// without it would not be found again, and be opened at every run.
func (t *tracker) makeLabel(ctx context.Context) error {
	if t.label {
		return nil
	}
	_, err := t.call(ctx, http.MethodGet, "/labels/"+issueLabel, nil)
	if errors.Is(err, errNoSuch) {
		if err := t.beforeWrite(ctx); err != nil {
			return err
		}
		_, err = t.call(ctx, http.MethodPost, "/labels", []byte(`{"name":"`+issueLabel+`","color":"b4530a","description":"Kept by streamgauge notify"}`))
	}
	if err != nil {
		return fmt.Errorf("make the label %s: %w", issueLabel, err)
	}
	t.label = true
	return nil
}

// addLabel labels an issue that GitHub opened without its label, as it does for
// who may not set labels; if that fails too, the issue is closed again.
func (t *tracker) addLabel(ctx context.Context, number int) error {
	path := fmt.Sprintf("/issues/%d", number)
	_, err := t.call(ctx, http.MethodPost, path+"/labels", []byte(`{"labels":["`+issueLabel+`"]}`))
	if err == nil {
		return nil
	}
	err = fmt.Errorf("label issue #%d, which would not be found again without: %w", number, err)
	_, closing := t.call(ctx, http.MethodPatch, path, []byte(`{"state":"closed","state_reason":"not_planned"}`))
	return errors.Join(err, closing)
}

// public reports whether anybody can read the repository. It counts as public
// unless GitHub says that it is not.
func (t *tracker) public(ctx context.Context) (bool, error) {
	text, err := t.call(ctx, http.MethodGet, "", nil)
	if err != nil {
		return true, fmt.Errorf("look at the repository: %w", err)
	}
	var repo struct {
		Private bool `json:"private"`
	}
	if err := json.Unmarshal(text, &repo); err != nil {
		return true, fmt.Errorf("look at the repository: %w", err)
	}
	return !repo.Private, nil
}

// call sends a request about the repository. Errors say what GitHub thinks is
// wrong in our words: its own could hold anything.
func (t *tracker) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	header := http.Header{
		"Accept":               {"application/vnd.github+json"},
		"X-Github-Api-Version": {"2022-11-28"},
		"User-Agent":           {"streamgauge"},
		"Authorization":        {"Bearer " + t.token},
	}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	status, got, text, err := send(ctx, t.client, method, t.api+"/repos/"+t.repo+path, header, body)
	if err != nil {
		if method == http.MethodPost && ctx.Err() == nil {
			return nil, &uncertainError{err}
		}
		return nil, err
	}
	t.left = -1
	if _, err := fmt.Sscan(got.Get("X-Ratelimit-Remaining"), &t.left); err != nil {
		t.left = -1
	}
	switch {
	case status < 300:
		return text, nil
	case status >= 500:
		err = fmt.Errorf("GitHub answers with status %d", status)
		if method == http.MethodPost {
			return nil, &uncertainError{err}
		}
		return nil, err
	}
	return nil, refusal(status, got)
}

// refusal says what a status of GitHub's means here.
func refusal(status int, header http.Header) error {
	switch {
	case header.Get("Retry-After") != "" && (status == http.StatusForbidden || status == http.StatusTooManyRequests):
		return fmt.Errorf("GitHub's rate limit is used up (status %d): %w", status, errLater)
	case status == http.StatusUnauthorized:
		return errors.New("GitHub does not take the token (status 401)")
	case status == http.StatusForbidden:
		return errors.New("the token may not do this (status 403): the job needs the permission 'issues: write'")
	case status == http.StatusNotFound:
		return errNoSuch
	case status == http.StatusGone:
		return errors.New("the repository has no issues (status 410): switch them on under Settings → General → Features")
	}
	return fmt.Errorf("GitHub answers with status %d", status)
}
