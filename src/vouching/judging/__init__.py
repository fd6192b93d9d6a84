"""What every judge shares: sources in windows and fences, votes, calibration, matching of values."""
