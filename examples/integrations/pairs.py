"""Documents and claims in lists, as MiniCheck takes them: a label, a score, and a score for each window.

Prints:
    [0, 1]
    report.txt 1
"""

import vouching

docs = [{"doc_id": "report.txt", "text": "The bridge opened in 1973."}, "It has two towers."]
pairs = vouching.score_pairs(docs, ["The bridge opened in 1937.", "It has two towers."])
print([pair.label for pair in pairs])
print(pairs[0].best.span.source_id, len(pairs[0].window_scores))
