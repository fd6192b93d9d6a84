"""Writes the traces of this folder with the clients' own types; see README.md for their versions.

Run it in an environment with openai, anthropic, langchain-core and pydantic-ai-slim.
"""

import json
from pathlib import Path

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageFunctionToolCall
from openai.types.chat.chat_completion_message_function_tool_call import Function
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

FOLDER = Path(__file__).parent
SYSTEM = "The museum is closed on Mondays."
FIRST, SECOND = "How warm is it in Lyon?", "When does the museum open?"
NARRATED = "I will look it up, it is surely 30 degrees."
WARM, OPENS = "The temperature in Lyon is 18 degrees.", "The museum opens at 9:30. It is closed on Mondays."
WEATHER = {"city": "Lyon", "temperature": 18, "wind": {"speed": 12, "direction": "north"}}
HOURS = "The museum opens at 9:30."
FAILED = "The museum opens at 11:00."  # what a tool says when it fails is no evidence


def chat():
    def calls(name, number, text=None):
        call = ChatCompletionMessageFunctionToolCall(
            id=f"call_{number}", type="function", function=Function(name=name, arguments="{}")
        )
        return ChatCompletionMessage(role="assistant", content=text, tool_calls=[call]).model_dump(exclude_none=True)

    def says(text):
        return ChatCompletionMessage(role="assistant", content=text).model_dump(exclude_none=True)

    def tool(number, content):
        return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}

    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": FIRST},
        calls("get_weather", 1, NARRATED),
        tool(1, json.dumps(WEATHER)),
        says(WARM),
        {"role": "user", "content": [{"type": "text", "text": SECOND}]},
        calls("get_hours", 2),
        tool(2, json.dumps({"error": FAILED})),
        calls("get_hours", 3),
        tool(3, HOURS),
        says(OPENS),
    ]


def responses():
    def call(name, number):
        return ResponseFunctionToolCall(
            type="function_call",
            id=f"fc_{number}",
            call_id=f"call_{number}",
            name=name,
            arguments="{}",
            status="completed",
        ).model_dump(exclude_none=True)

    def says(text, number):
        content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
        return ResponseOutputMessage(
            id=f"msg_{number}", type="message", role="assistant", status="completed", content=content
        ).model_dump(exclude_none=True)

    def output(number, value, status="completed"):
        return {"type": "function_call_output", "call_id": f"call_{number}", "output": value, "status": status}

    items = [
        {"role": "user", "content": FIRST},
        says(NARRATED, 1),
        call("get_weather", 1),
        output(1, json.dumps(WEATHER)),
        says(WARM, 2),
        {"role": "user", "content": [{"type": "input_text", "text": SECOND}]},
        call("get_hours", 2),
        output(2, FAILED, "incomplete"),
        call("get_hours", 3),
        output(3, [{"type": "input_text", "text": HOURS}]),
        says(OPENS, 3),
    ]
    return {"model": "gpt", "instructions": SYSTEM, "input": items}


def anthropic():
    def message(*blocks):
        return Message(
            id="msg",
            type="message",
            role="assistant",
            model="claude",
            content=list(blocks),
            stop_reason="end_turn",
            usage=Usage(input_tokens=1, output_tokens=1),
        ).model_dump(exclude_none=True, include={"role", "content"})

    def use(name, number):
        return ToolUseBlock(type="tool_use", id=f"call_{number}", name=name, input={})

    def text(words):
        return TextBlock(type="text", text=words)

    def result(number, content, **more):
        return {"type": "tool_result", "tool_use_id": f"call_{number}", "content": content, **more}

    halves = OPENS.partition(" It ")
    return {
        "model": "claude",
        "max_tokens": 100,
        "system": [{"type": "text", "text": SYSTEM}],
        "messages": [
            {"role": "user", "content": FIRST},
            message(text(NARRATED), use("get_weather", 1)),
            {"role": "user", "content": [result(1, json.dumps(WEATHER))]},
            message(text(WARM)),
            {"role": "user", "content": [{"type": "text", "text": SECOND}]},
            message(use("get_hours", 2), use("get_hours", 3)),
            {
                "role": "user",
                "content": [result(2, FAILED, is_error=True), result(3, [{"type": "text", "text": HOURS}])],
            },
            message(text(halves[0]), text("".join(halves[1:]))),
        ],
    }


def langchain():
    def call(name, number):
        return {"name": name, "args": {}, "id": f"call_{number}"}

    return [
        SystemMessage(SYSTEM),
        HumanMessage(FIRST),
        AIMessage(NARRATED, tool_calls=[call("get_weather", 1)]),
        ToolMessage(json.dumps(WEATHER), tool_call_id="call_1", name="get_weather"),
        AIMessage(WARM),
        HumanMessage([{"type": "text", "text": SECOND}]),
        AIMessage("", tool_calls=[call("get_hours", 2)]),
        ToolMessage(f"Error: {FAILED}", tool_call_id="call_2", status="error"),
        AIMessage("", tool_calls=[call("get_hours", 3)]),
        ToolMessage([{"type": "text", "text": HOURS}], tool_call_id="call_3"),
        AIMessage([{"type": "text", "text": OPENS}]),
    ]


def pydantic_ai():
    return [
        ModelRequest([SystemPromptPart(SYSTEM), UserPromptPart(FIRST)]),
        ModelResponse(
            [ThinkingPart("It is 25 degrees."), TextPart(NARRATED), ToolCallPart("get_weather", {}, "call_1")]
        ),
        ModelRequest([ToolReturnPart("get_weather", WEATHER, "call_1")]),
        ModelResponse([TextPart(WARM)]),
        ModelRequest([UserPromptPart([SECOND])]),
        ModelResponse([ToolCallPart("get_hours", "{}", "call_2"), ToolCallPart("get_hours", "{}", "call_0")]),
        ModelRequest(
            [
                RetryPromptPart(FAILED, tool_name="get_hours", tool_call_id="call_2"),
                ToolReturnPart("get_hours", FAILED, "call_0", outcome="failed"),
            ]
        ),
        ModelResponse([ToolCallPart("get_hours", "{}", "call_3")]),
        ModelRequest([ToolReturnPart("get_hours", HOURS, "call_3")]),
        ModelResponse([TextPart(OPENS)]),
    ]


def main():
    messages = langchain()
    made = {
        "openai_chat": chat(),
        "openai_responses": responses(),
        "anthropic": anthropic(),
        "langchain": messages_to_dict(messages),
        "langchain_dumpd": dumpd(messages),
        "langgraph_state": {"messages": [message.model_dump(mode="json") for message in messages]},
        "pydantic_ai": ModelMessagesTypeAdapter.dump_python(pydantic_ai(), mode="json"),
    }
    for name, value in made.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(value, indent=1, default=str) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
