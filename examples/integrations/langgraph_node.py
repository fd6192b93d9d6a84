"""LangGraph: a node that checks the last answer against the results of tools, and sends it back with the reasons.

Needs langgraph. Prints:
    1 claim: 0 attributable, 1 not attributable
    The bridge opened in 1973.
"""

from typing import Literal

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

import vouching

DRAFTS = iter(["The bridge opened in 1937.", "The bridge opened in 1973."])


def write(state: MessagesState) -> MessagesState:
    """Stands for a language model that answers."""
    return {"messages": [AIMessage(next(DRAFTS))]}


def check(state: MessagesState) -> Command[Literal["write", "__end__"]]:
    """Pass an answer whose claims the results of tools support; send any other back."""
    report = vouching.check_trace(state["messages"])[-1]
    if report.passed is not False:  # None: the judge failed, or nothing was to check; decide what that means to you
        return Command(goto=END)
    print(report.counts)
    return Command(goto="write", update={"messages": [HumanMessage(f"Correct this, and write the answer:\n{report}")]})


builder = StateGraph(MessagesState)
builder.add_node("write", write)
builder.add_node("check", check)
builder.add_edge(START, "write")
builder.add_edge("write", "check")
found = [
    HumanMessage("When did the bridge open?"),
    AIMessage("", tool_calls=[{"id": "call_1", "name": "search", "args": {"query": "bridge"}}]),
    ToolMessage("The bridge opened in 1973.", tool_call_id="call_1", name="search"),
]
print(builder.compile().invoke({"messages": found})["messages"][-1].content)
