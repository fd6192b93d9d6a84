"""LangChain: a chain whose answer is checked against the retrieved documents, and repaired.

Needs langchain-core. Prints:
    The bridge opened in 1973.
    False The claim says 1937, the source says 1973.
"""

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from vouching.integrations.langchain import vouch_checker, vouch_guard

retriever = RunnableLambda(lambda question: [Document("The bridge opened in 1973.", metadata={"source": "bridge.txt"})])
answer = RunnableLambda(lambda question: "The bridge opened in 1937.")  # your prompt and model

rag = {"answer": answer, "documents": retriever}
print((rag | vouch_guard(action="repair")).invoke("When did the bridge open?"))

judged = (rag | vouch_checker()).invoke("When did the bridge open?")
print(judged.passed, judged.report.findings[0].reasoning_chain[-1].explanation)
