"""Data -> observations (x, z) -> counts: symbols, series, fields, images, signals, pairs, and files of them."""
