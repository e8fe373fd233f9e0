package site

// The pages beside the leaderboard: each answers one question of its own.
const (
	comparePath     = "compare/"
	racePath        = "race/"
	reliabilityPath = "reliability/"
	pricePath       = "price/"
	estimatePath    = "estimate/"
	evaluatePath    = "evaluate/"
	statusPath      = "status/"
)

// wear adds a stylesheet that only this page needs. Templates of a fork may do
// without it.
func (e *edition) wear(p *Page, sheet string) {
	if name, ok := e.assets.names[sheet]; ok {
		p.Styles = append(p.Styles, p.Root+name)
	}
}
