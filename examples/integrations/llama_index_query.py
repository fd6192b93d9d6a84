"""LlamaIndex: nodes reordered by the evidence for a claim, and a response scored against its nodes.

Needs llama-index-core. Prints:
    The bridge opened in 1973.
    False 0.5
"""

from llama_index.core import Response
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from vouching.integrations.llama_index import EvidencePostprocessor, VouchEvaluator

texts = ["It rained all day.", "The bridge has two towers.", "The bridge opened in 1973."]
nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]

# index.as_query_engine(node_postprocessors=[EvidencePostprocessor(top_n=3)])
best = EvidencePostprocessor(top_n=1).postprocess_nodes(nodes, QueryBundle("The bridge opened in 1937."))
print(best[0].node.get_content())

response = Response("The bridge has two towers. The bridge opened in 1937.", source_nodes=nodes)
result = VouchEvaluator().evaluate_response(query="What is it like?", response=response)
print(result.passing, result.score)
