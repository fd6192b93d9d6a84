"""Search engines of the web, one small piece each: how its interface is asked and how its answer is read."""
