"""Haystack: a pipeline that repairs replies by the documents of its retriever.

Needs haystack-ai. Prints:
    ['The bridge opened in 1973.'] [False]
"""

from haystack import Document, Pipeline
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from vouching.integrations.haystack import VouchChecker

store = InMemoryDocumentStore()
store.write_documents([Document(content="The bridge opened in 1973.", meta={"file_path": "bridge.txt"})])

pipeline = Pipeline()
pipeline.add_component("retriever", InMemoryBM25Retriever(store))
pipeline.add_component("vouch", VouchChecker(action="repair"))
pipeline.connect("retriever.documents", "vouch.documents")  # and "generator.replies" to "vouch.replies"

replies = ["The bridge opened in 1937."]
checked = pipeline.run({"retriever": {"query": "When did the bridge open?"}, "vouch": {"replies": replies}})["vouch"]
print(checked["replies"], checked["passed"])
