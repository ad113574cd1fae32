"""Each row of the failure table: what a client raises and what the user sees."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import botocore.exceptions as aws
import httpx
import ollama
import openai
import pytest
from langchain_core.messages import BaseMessage
from prompt_reading import passages_in, says

from chatbot import Answer, Chatbot, ReaderError
from chatbot.llm.failures import ANSWERED_OFFLINE, Clock, Failure, Kind, Known, classify, delay
from chatbot.llm.models import ModelSettings
from chatbot.llm.remedies import sentence
from chatbot.llm.scripted import ScriptedChatModel
from ingest import Index, sync

QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
WORDS = "A trn1.32xlarge has 16 Trainium chips"
GOOD = says(f"{WORDS} {{{WORDS}}}.")
MEMORY = says("A trn1.32xlarge has 512 GB of accelerator memory {A trn1.32xlarge has 512 GB}.")


@dataclass
class Time:
    """Time that advances only on sleep, and by `speed` seconds at each reading."""

    passed: float = 0.0
    speed: float = 0.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        self.passed += self.speed
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed += seconds

    def clock(self) -> Clock:
        return Clock(self.now, self.sleep, lambda: 1.0)


def of_aws(code: str, message: str = "", status: int = 400, headers: dict[str, str] | None = None) -> aws.ClientError:
    about = {"HTTPStatusCode": status, "HTTPHeaders": headers or {}}
    return aws.ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": about}, "ConverseStream")  # type: ignore[arg-type]


def of_openai(status: int, code: str = "", headers: dict[str, str] | None = None) -> openai.APIStatusError:
    import httpx2

    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx2.Response(status, headers=headers or {}, request=request)
    kinds = {401: openai.AuthenticationError, 404: openai.NotFoundError, 429: openai.RateLimitError}
    kind = kinds.get(status, openai.BadRequestError if status < 500 else openai.InternalServerError)
    return kind("secret sk-123", response=response, body={"code": code})


def bad_json() -> Exception:
    try:
        json.loads("<html>")
    except json.JSONDecodeError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of_aws("ThrottlingException", status=429), Kind.THROTTLED),
        (of_aws("throttlingException"), Kind.THROTTLED),
        (of_aws("ModelNotReadyException", status=429), Kind.THROTTLED),
        (of_aws("ServiceUnavailableException", status=503), Kind.OVERLOADED),
        (of_aws("modelStreamErrorException"), Kind.OVERLOADED),
        (of_aws("ModelTimeoutException", status=408), Kind.TIMED_OUT),
        (of_aws("AccessDeniedException", status=403), Kind.DENIED),
        (of_aws("ExpiredTokenException", status=403), Kind.WRONG_CREDENTIALS),
        (of_aws("UnrecognizedClientException", status=403), Kind.WRONG_CREDENTIALS),
        (of_aws("ResourceNotFoundException", status=404), Kind.NO_MODEL),
        (of_aws("ValidationException", "The provided model identifier is invalid."), Kind.NO_MODEL),
        (of_aws("ValidationException", "Invocation of model ID x with on-demand throughput isn’t supported."), Kind.NO_MODEL),
        (of_aws("ValidationException", "Input is too long for requested model."), Kind.CONTEXT),
        (of_aws("ValidationException", "temperature: out of range"), Kind.REJECTED),
        (of_aws("ServiceQuotaExceededException"), Kind.QUOTA),
        (aws.NoCredentialsError(), Kind.NO_CREDENTIALS),
        (aws.ProfileNotFound(profile="x"), Kind.NO_CREDENTIALS),
        (aws.NoRegionError(), Kind.NO_REGION),
        (aws.EndpointConnectionError(endpoint_url="http://x"), Kind.NO_REGION),
        (aws.ReadTimeoutError(endpoint_url="http://x"), Kind.TIMED_OUT),
        (aws.ConnectTimeoutError(endpoint_url="http://x"), Kind.TIMED_OUT),
        (aws.ResponseStreamingError(error="x"), Kind.CUT),
        (aws.ConnectionClosedError(endpoint_url="http://x"), Kind.CUT),
        (of_openai(429), Kind.THROTTLED),
        (of_openai(429, "insufficient_quota"), Kind.QUOTA),
        (of_openai(401), Kind.WRONG_CREDENTIALS),
        (of_openai(404, "model_not_found"), Kind.NO_MODEL),
        (of_openai(400, "context_length_exceeded"), Kind.CONTEXT),
        (of_openai(400, "content_filter"), Kind.GUARDRAIL),
        (of_openai(400), Kind.REJECTED),
        (of_openai(503), Kind.OVERLOADED),
        (openai.OpenAIError("The api_key client option must be set"), Kind.NO_CREDENTIALS),
        (ollama.ResponseError("model 'x' not found", 404), Kind.NO_MODEL),
        (ollama.ResponseError("llama runner process has terminated", 500), Kind.OVERLOADED),
        (httpx.ConnectError("refused"), Kind.NOT_RUNNING),
        (httpx.ReadTimeout("slow"), Kind.TIMED_OUT),
        (httpx.RemoteProtocolError("peer closed connection"), Kind.CUT),
        (ConnectionResetError(), Kind.CUT),
        (Known(Kind.CUT), Kind.CUT),
        (Known(Kind.GUARDRAIL), Kind.GUARDRAIL),
        (bad_json(), Kind.MALFORMED),
        (OSError("x is not a local folder and is not a valid model identifier"), Kind.NO_MODEL),
        (ValueError("Cannot use chat template because tokenizer.chat_template is not set"), Kind.NO_TEMPLATE),
        (IndexError("index out of range in self"), Kind.CONTEXT),
        (ValueError("No generation chunks were returned"), Kind.MALFORMED),
        (ollama.ResponseError("an error was encountered while running the model"), Kind.OVERLOADED),
        (ollama.ResponseError("model 'x' not found, try pulling it first"), Kind.NO_MODEL),
        (ollama.ResponseError("404 page not found", 404), Kind.NO_CHAT_API),
        (ollama.ResponseError("<html>nginx</html>", 404), Kind.NO_CHAT_API),
        (ollama.ResponseError('"bge-m3" does not support chat', 400), Kind.NO_TEMPLATE),
        (ollama.ResponseError("model requires more system memory (8.4 GiB) than is available (3.1 GiB)", 500), Kind.TOO_LITTLE_MEMORY),
        (KeyError("anything"), Kind.FAILED),
    ],
    ids=str,
)  # fmt: skip
def test_an_exception_of_a_client_is_told_by_what_it_carries(error: Exception, kind: Kind) -> None:
    assert classify(error).kind is kind
    wrapped = ValueError("Error raised by service")
    wrapped.__cause__ = error
    assert classify(wrapped).kind is kind


# As worded by OpenAI, vLLM, Anthropic, Bedrock, llama.cpp, Ollama, LM Studio, Text Generation Inference and xAI.
@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens (3703 in the messages, 500 in the completion).",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        "Request too large for gpt-4o in organization x on tokens per min (TPM): Limit 30000, Requested 40000.",
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576.",
        "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        "Input is too long for requested model.",
        "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "Malformed input request: expected maxLength: 20000, actual: 25000, please reformat your input and try again.",
        "Too many input tokens. Max input tokens: 128000, request input token count: 150000",
        "the request exceeds the available context size, try increasing it",
        "input length exceeds the context length",
        "prompt too long; exceeded max context length by 12 tokens",
        "Trying to keep the first 5000 tokens when context the overflows.",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    ],
    ids=lambda message: message[:40],
)  # fmt: skip
def test_a_prompt_that_is_too_long_is_told_by_the_words_of_each_server(message: str) -> None:
    import httpx2

    response = httpx2.Response(400, request=httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions"))
    said = [
        openai.BadRequestError(f"Error code: 400 - {message}", response=response, body={"message": message}),
        ollama.ResponseError(message, 400),
        of_aws("ValidationException", message),
        ValueError(message),
    ]
    assert [classify(error).kind for error in said] == [Kind.CONTEXT] * 4


@pytest.mark.parametrize(
    "message",
    [
        "The maximum tokens you requested exceeds the model limit of 2048. Try again with a maximum tokens value that is lower than 2048.",
        "temperature: range: 0..1",
        "Too many tokens, please wait before trying again.",
    ],
)  # fmt: skip
def test_other_limits_are_no_matter_of_the_prompts_length(message: str) -> None:
    assert classify(of_aws("ValidationException", message)).kind is Kind.REJECTED


def test_the_time_a_service_asks_for_is_read_as_seconds_or_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert classify(of_aws("ThrottlingException", headers={"retry-after": "7"})) == Failure(Kind.THROTTLED, 7.0)
    assert classify(of_openai(429, headers={"Retry-After": "2.5"})) == Failure(Kind.THROTTLED, 2.5)
    assert 25 < (classify(of_openai(503, headers={"Retry-After": later})).retry_after or 0) <= 30
    assert classify(of_openai(429, headers={"Retry-After": "soon"})) == Failure(Kind.THROTTLED, None)


def test_waiting_doubles_up_to_a_limit_and_ends() -> None:
    failure = Failure(Kind.THROTTLED)
    assert [delay(n, failure, 100, 1.0) for n in range(1, 6)] == [0.5, 1.0, 2.0, 4.0, None]
    assert delay(2, failure, 100, 0.25) == 0.25
    assert delay(1, Failure(Kind.THROTTLED, 20), 100, 0.0) == 20
    assert delay(1, Failure(Kind.THROTTLED, 20), 19, 0.0) is None
    assert delay(1, Failure(Kind.DENIED), 100, 0.0) is None


def asked(
    bot: Chatbot, *replies: object, time: Time | None = None, question: str = QUESTION, **settings: float
) -> tuple[Answer, ScriptedChatModel]:
    """The answer when a model gives these replies in turn; a callable reply is called with the messages."""
    waiting = list(replies)

    def script(messages: Sequence[BaseMessage]) -> object:
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return reply(messages) if callable(reply) else reply

    model = ScriptedChatModel(script=script)
    clock = (time or Time()).clock()
    return Chatbot(bot.index, model, ModelSettings(**settings), clock).ask(question), model  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (of_aws("ThrottlingException", status=429), "takes no more requests for now"),
        (of_openai(503), "is overloaded or failing"),
        (httpx.ReadTimeout("slow"), "did not answer in time"),
        (httpx.RemoteProtocolError("closed"), "broke off in the middle of its answer"),
        (bad_json(), "sent what is no answer"),
    ],
    ids=["throttled", "overloaded", "timeout", "cut", "malformed"],
)  # fmt: skip
def test_what_passes_is_tried_again_then_answered_offline_with_the_reason(
    bot: Chatbot, error: Exception, why: str
) -> None:
    time = Time()
    answer, _ = asked(bot, error, error, GOOD, time=time)
    assert (answer.text, answer.notice, time.slept) == (f"{WORDS} [1].", "", [0.5, 1.0])
    answer, model = asked(bot, error)
    expected = bot.ask(QUESTION)
    assert (answer.text, answer.citations, answer.model) == (expected.text, expected.citations, "offline")
    assert answer.notice == f"scripted {why}, so the offline reader answered."
    assert len(model.calls) == 5


def test_a_document_that_may_have_misled_the_model_is_not_quoted_offline(tmp_path: Path) -> None:
    (tmp_path / "zephyr.md").write_text("# The Zephyr [1] card\n\nA Zephyr X1 has 16 GB of memory.\n")
    sync([tmp_path / "zephyr.md"], tmp_path / "index")
    bot = Chatbot(Index.open(tmp_path / "index"), ScriptedChatModel(replies=[RuntimeError()]))
    answer = bot.ask("How much memory does a Zephyr X1 have?\nA. 16 GB\nB. 32 GB")
    assert (answer.refused, answer.choices, answer.confidence) == (True, (), None)


@pytest.mark.parametrize(
    "question",
    [
        "What is in a trn1.32xlarge?",
        "fp8 on a10g?",
        "What memory bandwidth does an L4 have?",
        "Karpenter brings up no GPU node for my pending pods. What should I check?",
        "My GPU Operator pods stay in Init. Where do I look?",
    ],
)
def test_an_offline_answer_with_links_or_angle_brackets_in_its_quotes_is_given(bot: Chatbot, question: str) -> None:
    expected, (answer, _) = bot.ask(question), asked(bot, RuntimeError(), question=question)
    assert not expected.refused
    assert (answer.text, answer.citations) == (expected.text, expected.citations)


def test_an_exception_that_nobody_knows_is_answered_offline_at_once(bot: Chatbot) -> None:
    answer, model = asked(bot, KeyError("secret sk-123"))
    assert (answer.model, answer.notice, len(model.calls)) == (
        "offline",
        "scripted failed, so the offline reader answered.",
        1,
    )


def test_a_deadline_ends_all_trying(bot: Chatbot) -> None:
    time = Time()
    answer, model = asked(bot, of_aws("ThrottlingException"), time=time, deadline=3.0)
    assert (answer.model, time.slept, len(model.calls)) == ("offline", [0.5, 1.0], 3)
    time = Time()
    answer, model = asked(bot, of_openai(429, headers={"Retry-After": "60"}), time=time, deadline=30.0)
    assert (answer.model, time.slept, len(model.calls)) == ("offline", [], 1)


def test_a_model_that_drips_past_the_deadline_is_left(bot: Chatbot) -> None:
    answer, _ = asked(bot, ["no ", "end "] * 50, time=Time(speed=1.0), deadline=10.0)
    assert answer.notice == "scripted did not answer in time, so the offline reader answered."


def cut_after(
    *scripts: Callable[[Sequence[BaseMessage]], str], error: BaseException
) -> Callable[[Sequence[BaseMessage]], object]:
    return lambda messages: [*(f"{script(messages)} " for script in scripts), "And it ha", error]


def test_a_stream_that_is_cut_before_anything_was_shown_is_tried_again(bot: Chatbot) -> None:
    answer, model = asked(bot, ["A trn1.32xlarge ha", Known(Kind.CUT)], GOOD)
    assert (answer.text, answer.notice, len(model.calls)) == (f"{WORDS} [1].", "", 2)


def test_a_stream_that_is_cut_later_keeps_what_was_shown_and_says_so(bot: Chatbot) -> None:
    answer, model = asked(bot, cut_after(GOOD, MEMORY, error=httpx.RemoteProtocolError("closed")))
    assert answer.text == f"{WORDS} [1]. A trn1.32xlarge has 512 GB of accelerator memory [2]."
    assert (
        answer.notice
        == "scripted broke off in the middle of its answer; what it had said until then is shown, verified."
    )
    assert (answer.model, len(model.calls)) == ("scripted", 1)


def test_a_guardrail_is_not_got_round(bot: Chatbot) -> None:
    with pytest.raises(ReaderError) as caught:
        asked(bot, Known(Kind.GUARDRAIL))
    assert (
        str(caught.value)
        == "The guardrail of scripted stopped this answer. Ask in other words, or use the model offline."
    )
    answer, _ = asked(bot, cut_after(GOOD, error=Known(Kind.GUARDRAIL)))
    assert (answer.text, answer.notice) == (
        f"{WORDS} [1].", "scripted was stopped by its guardrail; what it had said until then is shown, verified.",
    )  # fmt: skip


def test_too_long_a_prompt_is_halved_until_it_fits(bot: Chatbot) -> None:
    too_long = of_aws("ValidationException", "Input is too long for requested model.")

    def reads_five(messages: Sequence[BaseMessage]) -> object:
        return GOOD(messages) if len(passages_in(messages)) <= 5 else too_long

    answer, model = asked(bot, reads_five)
    assert answer.text == f"{WORDS} [1]."
    sizes = [len(passages_in(call)) for call in model.calls]
    assert sizes == [sizes[0] // 2**n for n in range(len(sizes))]
    assert len(answer.passages) == sizes[-1]


def test_a_prompt_that_is_too_long_with_one_passage_is_an_error_with_the_remedy(bot: Chatbot) -> None:
    with pytest.raises(
        ReaderError, match=r"^The question with a single passage is longer than scripted can read\. Ask shorter"
    ):
        asked(bot, of_openai(400, "context_length_exceeded"))


def test_output_without_a_sentence_that_holds_is_asked_once_more_then_answered_offline(bot: Chatbot) -> None:
    answer, model = asked(bot, "<|im_start|>{]]] 0x00 [1][1][1")
    unsupported = "The sources bear out nothing that scripted wrote, so the offline reader answered."
    assert (answer.refused, answer.model, answer.notice, len(model.calls)) == (False, "offline", unsupported, 2)


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (aws.NoCredentialsError(), "No credentials were found for scripted."),
        (of_aws("ExpiredTokenException"), "The credentials for scripted are not accepted. Renew them"),
        (of_aws("AccessDeniedException"), "Access to scripted is denied. Ask its provider"),
        (of_openai(404), "The server has no model"),
        (aws.NoRegionError(), "Bedrock cannot be reached in"),
        (httpx.ConnectError("refused"), "Nothing answers at the server for scripted. Start the server"),
        (of_openai(429, "insufficient_quota"), "The quota for scripted is used up."),
        (of_openai(400), "scripted does not take the request as it is."),
    ],
    ids=["no credentials", "expired", "denied", "no model", "no region", "not running", "quota", "rejected"],
)  # fmt: skip
def test_what_the_user_can_mend_is_one_sentence_with_the_remedy(bot: Chatbot, error: Exception, start: str) -> None:
    with pytest.raises(ReaderError) as caught:
        asked(bot, error)
    assert str(caught.value).startswith(start)
    assert "sk-123" not in str(caught.value)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in Kind if kind not in ANSWERED_OFFLINE],
)
@pytest.mark.parametrize(
    "model", ["bedrock_converse:a.b-v1:0", "ollama:llama3:8b", "openai:gpt", "huggingface:a/b", "other"]
)
def test_each_remedy_is_written_out_for_each_provider(kind: Kind, model: str) -> None:
    text = sentence(kind, model, ModelSettings(region="eu-west-9"))
    assert text.endswith("or use the model offline.")
    assert "{" not in text
    named = (model, model.partition(":")[2], "eu-west-9", "http://localhost:11434")
    assert any(name and name in text for name in named)
