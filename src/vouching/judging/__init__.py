"""What all judges share: sources in windows and delimiters, votes, calibration, comparison of values."""
