"""Many rows through one function: read, worked on in order by one process or several, kept line by line, resumable.

Nothing here knows what is done with a row: a command passes a factory of functions from a row to a line of JSON.
"""
