"""One module per command: it parses, calls one function and prints."""
