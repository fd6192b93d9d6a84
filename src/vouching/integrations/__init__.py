"""Adapters to other tools, one module each; a tool is only imported when it calls its adapter."""
