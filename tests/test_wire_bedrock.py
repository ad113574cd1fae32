"""boto3's own bedrock-runtime client, through ChatBedrockConverse, against a server on loopback."""

from dataclasses import replace
from urllib.parse import unquote

import pytest
from servers.model_api import (
    TOKENS_IN,
    TOKENS_OUT,
    Reply,
    aws_error,
    converse,
    converse_citing,
    converse_stream,
    serving,
)

from chatbot import Answer, Chatbot, ReaderError, Usage
from chatbot.llm.costs import list_price
from chatbot.llm.failures import Clock
from chatbot.llm.models import ModelSettings
from chatbot.presentation.render import as_json

pytestmark = pytest.mark.usefixtures("clean_environment")
rare = pytest.mark.evaluation  # test_llm_failures.py covers them all, without a server
MODEL = "bedrock_converse:anthropic.claude-3-5-sonnet-20241022-v2:0"
QUESTION = "How many Trainium chips are in a trn1.32xlarge?"
TEXT = "A trn1.32xlarge has 16 Trainium chips [1]."


def asked(
    bot: Chatbot,
    *replies: Reply,
    model: str = MODEL,
    slept: list[float] | None = None,
    region: str = "us-east-1",
    guardrail: str = "",
) -> tuple[Answer, list[str]]:
    """The answer from a server with these replies, and the requested paths."""
    with serving(*replies) as server:
        settings = ModelSettings(base_url=server.url, region=region, timeout=20.0, guardrail=guardrail)
        clock = Clock(sleep=([] if slept is None else slept).append, jitter=lambda: 1.0)
        answer = Chatbot(bot.index, model, settings, clock).ask(QUESTION)
        return answer, [unquote(request.path) for request in server.requests]


def test_a_stream_of_events_becomes_a_verified_answer_with_its_tokens(bot: Chatbot, good: str) -> None:
    answer, paths = asked(bot, converse_stream(f"{good} It is blue [1]."))
    assert (answer.text, answer.dropped, answer.notice) == (TEXT, 1, "")
    assert answer.usage == Usage(TOKENS_IN, TOKENS_OUT)
    assert (answer.model, paths) == (MODEL, [f"/model/{MODEL.partition(':')[2]}/converse-stream"])


def test_a_model_that_does_not_stream_is_asked_whole(bot: Chatbot, good: str) -> None:
    answer, paths = asked(bot, converse(good), model="bedrock_converse:unheard.of-v1:0")
    assert (answer.text, answer.usage) == (TEXT, Usage(TOKENS_IN, TOKENS_OUT))
    assert paths == ["/model/unheard.of-v1:0/converse"]


def test_the_request_has_passages_limit_and_guardrail(bot: Chatbot, good: str) -> None:
    with serving(converse_stream(good)) as server:
        settings = ModelSettings(base_url=server.url, region="us-east-1", guardrail="g:1", max_tokens=77)
        Chatbot(bot.index, MODEL, settings).ask(QUESTION)
        body = server.requests[0].body
    assert body["inferenceConfig"] == {"maxTokens": 77}
    assert body["guardrailConfig"] == {"guardrailIdentifier": "g", "guardrailVersion": "1"}
    assert body["messages"][0]["content"][0]["document"]["source"]["text"].startswith("<passage ")
    assert "You answer questions" in body["system"][0]["text"]


def test_throttling_is_waited_out_as_long_as_the_service_says(bot: Chatbot, good: str) -> None:
    slept: list[float] = []
    busy = aws_error("ThrottlingException", 429, headers={"Retry-After": "7"})
    answer, paths = asked(bot, busy, aws_error("ThrottlingException", 429), converse_stream(good), slept=slept)
    assert (answer.text, slept, len(paths)) == (TEXT, [7.0, 1.0], 3)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(aws_error("ThrottlingException", 429), "takes no more requests for now", marks=rare),
        pytest.param(aws_error("ServiceUnavailableException", 503), "is overloaded or failing", marks=rare),
        (converse_stream("No", error="throttlingException"), "takes no more requests for now"),
        pytest.param(converse_stream("No", error="modelStreamErrorException"), "is overloaded or failing", marks=rare),
        pytest.param(converse_stream("No", ends=False), "broke off in the middle of its answer", marks=rare),
        (Reply(converse_stream("No").parts[:2], "application/vnd.amazon.eventstream", cut=True), "broke off in the middle of its answer"),
        (Reply((b"\x00\x01 this is no event stream at all, not by far",), "application/vnd.amazon.eventstream"), "sent what is no answer"),
    ],
    ids=["throttled", "unavailable", "throttled in the stream", "failed in the stream", "no end", "cut", "no frames"],
)  # fmt: skip
def test_what_passes_is_tried_five_times_then_answered_offline(bot: Chatbot, reply: Reply, why: str) -> None:
    answer, paths = asked(bot, reply)
    assert (answer.model, answer.text) == ("offline", bot.ask(QUESTION).text)
    assert answer.notice == f"{MODEL} {why}, so the offline reader answered."
    assert len(paths) == 5


def test_a_stream_cut_after_a_sentence_keeps_it(bot: Chatbot, good: str) -> None:
    whole = converse_stream(f"{good} And then some more words that never come to an end").parts
    answer, _ = asked(bot, Reply(whole[:9], "application/vnd.amazon.eventstream", cut=True))
    assert (answer.text, answer.model) == (TEXT, MODEL)
    assert answer.notice.startswith(
        f"{MODEL} broke off in the middle of its answer; what it had said until then is shown"
    )


@pytest.mark.parametrize(
    ("reply", "start"),
    [
        (aws_error("AccessDeniedException", 403), f"AWS denies access to {MODEL}."),
        (aws_error("ExpiredTokenException", 403), f"AWS does not accept the credentials for {MODEL}"),
        pytest.param(aws_error("UnrecognizedClientException", 403), f"AWS does not accept the credentials for {MODEL}", marks=rare),
        (aws_error("ResourceNotFoundException", 404), "Bedrock has no model anthropic.claude-3-5-sonnet-20241022-v2:0 in us-east-1"),
        pytest.param(aws_error("ValidationException", 400, "The provided model identifier is invalid."), "Bedrock has no model", marks=rare),
        (aws_error("ValidationException", 400, "max_tokens is too large"), f"{MODEL} does not take the request as it is."),
        (converse_stream("Blocked by policy.", "guardrail_intervened"), f"The guardrail of {MODEL} stopped this answer."),
    ],
    ids=["denied", "expired", "unrecognised", "not found", "invalid", "rejected", "guardrail"],
)  # fmt: skip
def test_what_the_user_can_mend_is_one_sentence(bot: Chatbot, reply: Reply, start: str) -> None:
    with pytest.raises(ReaderError) as caught:
        asked(bot, reply)
    assert str(caught.value).startswith(start)


def test_too_long_a_prompt_is_sent_again_with_fewer_passages(bot: Chatbot, good: str) -> None:
    too_long = aws_error("ValidationException", 400, "Input is too long for requested model.")
    answer, paths = asked(bot, too_long, too_long, converse_stream(good))
    assert (answer.text, len(paths)) == (TEXT, 3)
    with pytest.raises(ReaderError, match=r"longer than .* can read"):
        asked(bot, too_long)


def test_without_credentials_the_remedy_is_said(bot: Chatbot, good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as nobody:
        nobody.setenv("AWS_PROFILE", "nobody")
        with pytest.raises(ReaderError, match=r"^No AWS credentials were found"):
            asked(bot, converse_stream(good))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ReaderError, match=f"^No AWS credentials were found for {MODEL}. Run `aws configure`"):
        asked(bot, converse_stream(good))


@pytest.mark.parametrize("region", ["", "not a region"])
def test_without_a_region_that_can_be_one_the_remedy_is_said(bot: Chatbot, good: str, region: str) -> None:
    with pytest.raises(ReaderError, match=r"^Bedrock cannot be reached in .* Set WATTWISE_REGION"):
        asked(bot, converse_stream(good), region=region)


def test_an_endpoint_where_nothing_listens_is_named_as_the_regions(bot: Chatbot) -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:9", region="us-east-1", timeout=1.0)
    with pytest.raises(ReaderError, match=r"^Bedrock cannot be reached in us-east-1"):
        Chatbot(bot.index, MODEL, settings).ask(QUESTION)


def test_a_hosted_answer_has_its_list_price_and_its_estimated_footprint(bot: Chatbot, good: str) -> None:
    model = "bedrock_converse:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    answer, _ = asked(bot, converse_stream(good), model=model)
    assert answer.cost == list_price(model, Usage(TOKENS_IN, TOKENS_OUT))
    assert (answer.cost or 0) > 0
    took = answer.footprint
    assert took is not None
    assert took.cpu_seconds > 0
    assert 0 < (took.model_wh_low or 0) <= (took.model_wh_high or 0)
    assert as_json(answer)["footprint"]["usd"] == answer.cost


@pytest.mark.parametrize("name", ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon.nova-lite-v1:0"])
def test_rules_and_tools_are_cached_and_cached_tokens_have_their_price(bot: Chatbot, good: str, name: str) -> None:
    model, cache = f"bedrock_converse:{name}", {"cacheReadInputTokens": 900, "cacheWriteInputTokens": 80}
    with serving(converse_stream(good, usage=cache)) as server:
        answer = Chatbot(bot.index, model, ModelSettings(base_url=server.url, region="us-east-1")).ask(QUESTION)
        system = server.requests[0].body["system"]
    assert system[1:] == [{"cachePoint": {"type": "default"}}]
    assert answer.usage == Usage(TOKENS_IN + 980, TOKENS_OUT, 900, 80)
    plain = list_price(model, Usage(TOKENS_IN + 980, TOKENS_OUT))
    assert answer.cost == list_price(model, answer.usage)
    assert 0 < (answer.cost or 0) < (plain or 0)


def test_a_model_that_takes_no_cache_points_is_asked_without(bot: Chatbot, good: str) -> None:
    with serving(aws_error("ValidationException", 400, "cachePoint is not permitted."), converse_stream(good)) as server:
        answer = Chatbot(bot.index, "bedrock_converse:amazon.nova-lite-v1:0", ModelSettings(base_url=server.url, region="us-east-1")).ask(QUESTION)
        systems = [len(request.body["system"]) for request in server.requests]
    assert (answer.text, systems) == (TEXT, [2, 1])


def test_the_words_that_the_service_cites_become_our_quotes(bot: Chatbot, good: str) -> None:
    words = good.partition(" [")[0]
    settings = ModelSettings(region="us-east-1")
    with serving(converse_stream(good)) as server:
        Chatbot(bot.index, MODEL, replace(settings, base_url=server.url)).ask(QUESTION)
        told = server.requests[0].body["messages"][0]["content"][0]["document"]["source"]["text"]
    at, head = told.index(words), told.rindex("<passage", 0, told.index(words))
    claims = ((f"{words}.", at, at + len(words)), (f" With 16 Trainium chips, {words}.", head, at + 5), (" It is blue.", at, at + 9), (" Its fans are of a red metal.", 0, 10**6))
    with serving(converse_citing(*claims)) as server:
        answer = Chatbot(bot.index, MODEL, replace(settings, base_url=server.url)).ask(QUESTION)
        document, cached, question = server.requests[0].body["messages"][0]["content"]
    assert (answer.text, answer.dropped) == (f"{TEXT} With 16 Trainium chips, {words} [1].", 2)
    assert [citation.quote for citation in answer.citations] == [f"{words}."] * 2
    assert document["document"]["citations"] == {"enabled": True}
    assert cached == {"cachePoint": {"type": "default"}}
    assert QUESTION in question["text"]


def test_a_model_that_takes_no_such_document_is_asked_without(bot: Chatbot, good: str) -> None:
    refused = aws_error("ValidationException", 400, "This model doesn't support citations.")
    with serving(refused, converse_stream(good)) as server:
        answer = Chatbot(bot.index, MODEL, ModelSettings(base_url=server.url, region="us-east-1")).ask(QUESTION)
        contents = [request.body["messages"][0]["content"] for request in server.requests]
    assert answer.text == TEXT
    assert ["document" in content[0] for content in contents] == [True, False]
