package bench_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

func ExampleMeter_Measure() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\", world\"},\"finish_reason\":\"stop\"}]}\n\n")
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()

	meter := new(bench.Meter)
	s := meter.Measure(context.Background(), bench.Run{
		Pair:     bench.Pair{Provider: "loopback", Model: "hello"},
		Protocol: wire.OpenAIChat{},
		Target:   wire.Target{BaseURL: provider.URL + "/v1", Model: "hello"},
		Prompt:   bench.Prompt(""),
	}, bench.Observer{})

	ttft, _ := s.TTFT()
	_, why := s.DecodeTPS()
	fmt.Println(s.OK(), s.Chunks, s.Chars, s.Usage.Output.N, s.Shape(), ttft > 0, why)
	// Output: true 2 12 3 burst true buffered
}
