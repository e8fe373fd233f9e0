package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

const (
	// tellWithin is how long after an incident was over it is still told, if it
	// never was: so long a receiver may be out of reach without missing any. One
	// that lasts is told however old it is.
	tellWithin = 72 * time.Hour

	secretPrefix           = "whsec_"
	minSecretBytes         = 24
	maxSecretBytes         = 64
	maxDelivered     int64 = 64 << 20 // bytes of the file of deliveries
	deliveredLine          = 1 << 20  // bytes of a line of it
	webhookUserAgent       = "streamgauge"
)

// A webhook is where messages go, signed as Standard Webhooks says: the HMAC
// with SHA-256 of id, timestamp and body, joined by points. See
// github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
type webhook struct {
	client *retryablehttp.Client
	url    string
	secret []byte
	guard  *bench.Redactor // what no message may hold
	now    func() time.Time
}

// newWebhook checks what the environment says. Errors repeat none of it.
func newWebhook(address, secret string) (*webhook, error) {
	if err := checkAddress(address); err != nil {
		return nil, fmt.Errorf("%s: %w", webhookURLEnv, err)
	}
	key, err := readSecret(secret)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", webhookSecretEnv, err)
	}
	return &webhook{
		// The id of a message makes sending it again harmless.
		client: newNotifyClient(func(_ string, resp *http.Response) bool {
			return resp == nil || resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout
		}),
		url: address, secret: key, now: time.Now,
	}, nil
}

// readSecret reads a secret of the form that Standard Webhooks gives it.
func readSecret(text string) ([]byte, error) {
	coded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) < minSecretBytes || len(key) > maxSecretBytes {
		return nil, fmt.Errorf("it must be %s and the base64 of %d to %d bytes, as from: echo %s$(openssl rand -base64 32)", secretPrefix, minSecretBytes, maxSecretBytes, secretPrefix)
	}
	return key, nil
}

// signature returns the header that signs a message.
func signature(secret []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// A message is one delivery to be made.
type message struct {
	id      string // of the message, the same whenever it is sent
	subject string
	payload payload
}

// newMessage names a message by what it tells. Times counts the times that the
// same was told before, as of an incident that closed and was found again.
func newMessage(kind string, at time.Time, id string, i *rollup.Incident, siteURL string, times int) message {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", id, kind, times))
	return message{"msg_" + hex.EncodeToString(sum[:12]), i.Subject, newPayload(kind, at, id, i, siteURL)}
}

// A delivered is a message that arrived: a line of the file of deliveries. What
// it told is kept, so that its end can be told even if the record does not show
// the incident any more.
type delivered struct {
	ID      string    `json:"id"`
	At      time.Time `json:"delivered_at"`
	Subject string    `json:"subject"`
	Payload payload   `json:"payload"`
}

// readDelivered reads the file of deliveries. A missing one is empty; a last
// line that a crash cut short is passed over, and its message sent again.
func readDelivered(file string) ([]delivered, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxDelivered {
		return nil, fmt.Errorf("read deliveries: more than %d MB", maxDelivered>>20)
	}
	var list []delivered
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, deliveredLine)
	var broken error
	for n := 1; lines.Scan(); n++ {
		if broken != nil {
			return nil, broken
		}
		var d delivered
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			broken = fmt.Errorf("read deliveries: line %d: %w", n, err)
			continue
		}
		list = append(list, d)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	return list, nil
}

// A ledger appends to the file of deliveries.
type ledger struct{ file *os.File }

// openLedger opens the file of deliveries, and ends a line that a crash cut short.
func openLedger(file string) (*ledger, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open deliveries: %w", err)
	}
	whole, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open deliveries: %w", err), f.Close())
	}
	return &ledger{f}, nil
}

// wholeLines returns how many bytes of a file are whole lines.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	for one := make([]byte, 1); size > 0; size-- {
		if _, err := f.ReadAt(one, size-1); err != nil {
			return 0, err
		}
		if one[0] == '\n' {
			break
		}
	}
	return size, nil
}

// add notes a delivery durably.
func (l *ledger) add(d delivered) error {
	line, err := json.Marshal(d)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err := errors.Join(err, l.file.Sync()); err != nil {
		return fmt.Errorf("note a delivery: %w", err)
	}
	return nil
}

// dueMessages returns what is still to be told, in the order in which it
// happened. It is pure.
//
// Each incident is opened, perhaps worsened, and closed. One of which nothing
// was told is told if it lasts, or was over no longer than tellWithin ago.
func dueMessages(now time.Time, incidents []rollup.Incident, past []delivered, siteURL string) []message {
	var told []rollup.Told
	var opened []delivered       // beside told
	count := map[[2]string]int{} // messages, by incident and type
	type ending struct {
		subject string
		closed  int64
	}
	ended := map[ending]bool{} // told, by whatever name
	for _, d := range past {
		id := d.Payload.Data.Incident
		if d.Payload.Type == typeClosed && d.Payload.Data.Closed != nil {
			ended[ending{d.Subject, d.Payload.Data.Closed.Unix()}] = true
		}
		count[[2]string{id, d.Payload.Type}]++
		at := slices.IndexFunc(told, func(t rollup.Told) bool { return t.ID == id })
		switch {
		case d.Payload.Type == typeClosed && at >= 0:
			told, opened = slices.Delete(told, at, at+1), slices.Delete(opened, at, at+1)
		case d.Payload.Type == typeOpened && at < 0:
			told, opened = append(told, rollup.Told{ID: id, Subject: d.Subject, Since: d.Payload.Data.Opened}), append(opened, d)
		}
	}
	var due []message
	add := func(kind string, at time.Time, id string, i *rollup.Incident) {
		due = append(due, newMessage(kind, at, id, asOf(i, kind), siteURL, count[[2]string{id, kind}]))
	}
	worsened := func(id string, i *rollup.Incident) {
		if !i.Worsened.IsZero() && count[[2]string{id, typeWorsened}] == 0 {
			add(typeWorsened, i.Worsened, id, i)
		}
	}
	known := map[*rollup.Incident]bool{}
	for _, s := range rollup.Reconcile(told, incidents) {
		known[s.Incident] = true
		switch s.Action {
		case rollup.ActionOpen:
			add(typeOpened, s.Incident.Opened, s.Incident.ID, s.Incident)
			worsened(s.Incident.ID, s.Incident)
		case rollup.ActionUpdate:
			worsened(told[s.Told].ID, s.Incident)
		case rollup.ActionClose:
			worsened(told[s.Told].ID, s.Incident)
			add(typeClosed, s.Incident.Closed, told[s.Told].ID, s.Incident)
		default: // folded, withdrawn, or told twice: what was told is over
			reason := closeWithdrawn
			m := newMessage(typeClosed, now, told[s.Told].ID, &rollup.Incident{Subject: told[s.Told].Subject}, siteURL, count[[2]string{told[s.Told].ID, typeClosed}])
			m.payload.Data = opened[s.Told].Payload.Data
			m.payload.Data.State = "closed"
			m.payload.Data.Closed = unlessZero(now.Truncate(time.Second))
			m.payload.At = now.UTC().Truncate(time.Second)
			if s.Incident != nil {
				reason = closeFolded
				m.payload.Data.Into = &s.Incident.ID
			}
			m.payload.Data.Reason = &reason
			due = append(due, m)
		}
	}
	for k := range incidents {
		i := &incidents[k]
		if i.Open() || !i.Alarm() || known[i] || now.Sub(i.Closed) > tellWithin || count[[2]string{i.ID, typeOpened}] > 0 ||
			ended[ending{i.Subject, i.Closed.Unix()}] {
			continue
		}
		add(typeOpened, i.Opened, i.ID, i)
		worsened(i.ID, i)
		add(typeClosed, i.Closed, i.ID, i)
	}
	slices.SortStableFunc(due, func(a, b message) int { return a.payload.At.Compare(b.payload.At) })
	return due
}

// asOf returns an incident as it was when a message of some type became due: one
// that tells of its beginning does not know of its end.
func asOf(i *rollup.Incident, kind string) *rollup.Incident {
	if kind == typeClosed {
		return i
	}
	then := *i
	then.Why, then.Closed, then.Ended = "", time.Time{}, time.Time{}
	if kind == typeOpened && !i.Worsened.IsZero() {
		then.Kind = rollup.IncidentDegraded
	}
	if kind == typeWorsened {
		then.Kind = rollup.IncidentDown
	}
	return &then
}

// deliver sends the messages, notes each that arrived, and goes on after one
// that did not; but of its incident nothing is told out of order. It returns the
// failures, joined.
func (w *webhook) deliver(ctx context.Context, due []message, note func(delivered) error, tell func(message)) error {
	var failures []error
	stopped := map[string]bool{}
	for _, m := range due {
		incident := m.payload.Data.Incident
		if stopped[incident] {
			continue
		}
		err := w.send(ctx, m)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			stopped[incident] = true
			failures = append(failures, fmt.Errorf("message %s (%s) did not arrive: %w", m.id, m.payload.Type, err))
			continue
		}
		if err := note(delivered{m.id, w.now().UTC().Truncate(time.Second), m.subject, m.payload}); err != nil {
			return err
		}
		tell(m)
	}
	return errors.Join(failures...)
}

// send sends one message.
func (w *webhook) send(ctx context.Context, m message) error {
	body, err := json.Marshal(m.payload)
	if err != nil {
		return err
	}
	if w.guard.String(string(body)) != string(body) {
		return errHoldsSecret
	}
	at := w.now()
	status, _, _, err := send(ctx, w.client, http.MethodPost, w.url, http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {webhookUserAgent},
		"Webhook-Id":        {m.id},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {signature(w.secret, m.id, at, body)},
	}, body)
	switch {
	case err != nil:
		return err
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("it answers with a redirect (status %d), which is not followed", status)
	}
	return fmt.Errorf("it answers with status %d", status)
}
