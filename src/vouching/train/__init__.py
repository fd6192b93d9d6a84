"""Training: runs that can be killed and gone on with, each described by one TOML file."""
