package wire

// millis returns the non-negative milliseconds at the cursor; 0 for none.
func (c *cursor) millis() float64 {
	f, ok := c.float()
	if !ok {
		return 0
	}
	return max(f, 0)
}

// seconds returns the seconds at the cursor in milliseconds.
func (c *cursor) seconds() float64 { return 1e3 * c.millis() }

// nanos returns the nanoseconds at the cursor in milliseconds.
func (c *cursor) nanos() float64 { return c.millis() / 1e6 }

// secondsTiming reads times in seconds under the names that Groq and Cerebras
// share.
func secondsTiming(s *ServerTiming, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "queue_time":
			s.QueueMS = c.seconds()
		case "prompt_time":
			s.PromptMS = c.seconds()
		case "completion_time":
			s.DecodeMS = c.seconds()
		case "total_time":
			s.TotalMS = c.seconds()
		default:
			c.skip()
		}
	}
}

// llamaTiming reads llama.cpp's timings.
func llamaTiming(s *ServerTiming, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "prompt_ms":
			s.PromptMS = c.millis()
		case "predicted_ms":
			s.DecodeMS = c.millis()
		case "predicted_per_second":
			s.DecodeTPS = c.millis()
		default:
			c.skip()
		}
	}
}

// azureTiming reads Azure's latency_checkpoint. What the service saw is kept,
// as it is the side of the engine's figures that is nearer to the client.
func azureTiming(s *ServerTiming, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "service_ttft_ms":
			s.TTFTMS = c.millis()
		case "service_ttlt_ms":
			s.TotalMS = c.millis()
		case "pre_inference_ms":
			s.QueueMS = c.millis()
		case "engine_tbt_ms":
			if ms := c.millis(); ms > 0 {
				s.DecodeTPS = 1e3 / ms
			}
		default:
			c.skip()
		}
	}
}
