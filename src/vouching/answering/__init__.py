"""Questions answered from sources by a language model, each answer audited and, if asked, repaired."""
