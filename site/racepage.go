package site

func (e *edition) raceFiles() ([]file, error) { return nil, nil }
