package site

func (e *edition) statusFiles() ([]file, error) { return nil, nil }
