package site

func (e *edition) priceFiles() ([]file, error) { return nil, nil }
