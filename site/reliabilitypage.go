package site

func (e *edition) reliabilityFiles() ([]file, error) { return nil, nil }
