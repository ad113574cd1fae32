"""What users are told about a failure, and how to fix it."""

from chatbot.llm.addresses import likely_address, shown_address
from chatbot.llm.failures import Kind
from chatbot.llm.models import ModelSettings, provider_of, server_of

_HAPPENED = {
    Kind.THROTTLED: "takes no more requests for now",
    Kind.OVERLOADED: "is overloaded or failing",
    Kind.TIMED_OUT: "did not answer in time",
    Kind.CUT: "broke off in the middle of its answer",
    Kind.MALFORMED: "sent what is no answer",
    Kind.NO_ROOM: "had used up its tokens before it said anything (WATTWISE_THINKING_TOKENS)",
}


def notice(kind: Kind, model: str) -> str:
    """Say in one sentence why the offline reader answered."""
    return f"{model} {_HAPPENED.get(kind, 'failed')}, so the offline reader answered."


def shortened(kind: Kind, model: str) -> str:
    """Say in one sentence why an answer ends early."""
    happened = "was stopped by its guardrail" if kind is Kind.GUARDRAIL else _HAPPENED.get(kind, "failed")
    return f"{model} {happened}; what it had said until then is shown, verified."


def cut_off(model: str, settings: ModelSettings) -> str:
    """Say that an answer is cut off at its limit of tokens, and the remedy."""
    return f"{model} reached its limit of {settings.max_tokens:,} tokens, so its answer is cut off there. Set WATTWISE_MAX_TOKENS to more for longer ones."


def sentence(kind: Kind, model: str, settings: ModelSettings) -> str:
    """Tell the user what is wrong and how to fix it, without the client's own words, which may hold secrets."""
    provider = provider_of(model)
    template = _SENTENCES.get((kind, provider)) or _SENTENCES[kind, ""]
    own = shown_address(server_of(model, settings))
    server = own or {"ollama": "http://localhost:11434"}.get(provider, "the server")
    region = settings.region or "the region set for AWS"
    name = model.partition(":")[2] or model
    return template.format(model=model, name=name, server=server, region=region, likely=likely_address(own))


_ELSE = "or use the model offline."
_SENTENCES: dict[tuple[Kind, str], str] = {
    (Kind.NO_CREDENTIALS, "bedrock_converse"): f"No AWS credentials were found for {{model}}. Run `aws configure` or `aws sso login`, or set AWS_PROFILE, {_ELSE}",
    (Kind.NO_CREDENTIALS, "openai"): f"No key was found for {{model}}. Set OPENAI_API_KEY, or WATTWISE_BASE_URL for a server of your own, {_ELSE}",
    (Kind.NO_CREDENTIALS, ""): f"No credentials were found for {{model}}. Set those its provider asks for, {_ELSE}",
    (Kind.WRONG_CREDENTIALS, "bedrock_converse"): f"AWS does not accept the credentials for {{model}}: they are wrong or have expired. Run `aws sso login` or renew the keys, {_ELSE}",
    (Kind.WRONG_CREDENTIALS, "openai"): f"The key for {{model}} is not accepted. Check OPENAI_API_KEY, {_ELSE}",
    (Kind.WRONG_CREDENTIALS, ""): f"The credentials for {{model}} are not accepted. Renew them, {_ELSE}",
    (Kind.DENIED, "bedrock_converse"): f"AWS denies access to {{model}}. Request access to the model in the Bedrock console, and allow bedrock:InvokeModelWithResponseStream and bedrock:InvokeModel, {_ELSE}",
    (Kind.DENIED, ""): f"Access to {{model}} is denied. Ask its provider for access, {_ELSE}",
    (Kind.NO_BASE_MODEL, ""): f"{{name}} does not say which model it leads to. Set WATTWISE_BASE_MODEL to the id of that model, for example anthropic.claude-sonnet-4-20250514-v1:0 (`aws bedrock get-inference-profile` tells it), or WATTWISE_PROVIDER to its maker and allow bedrock:GetInferenceProfile, {_ELSE}",
    (Kind.NO_MODEL, "bedrock_converse"): f"Bedrock has no model {{name}} in {{region}} that can be called by this name. Compare `aws bedrock list-foundation-models` and `list-inference-profiles` (some models are called by their profile only), {_ELSE}",
    (Kind.NO_MODEL, "ollama"): f"Ollama has no model {{name}}. Fetch it with `ollama pull {{name}}`, {_ELSE}",
    (Kind.NO_MODEL, "huggingface"): f"There is no model {{name}} on Hugging Face or in a folder of that name that can be loaded. Check the name (a gated model asks for `hf auth login`), {_ELSE}",
    (Kind.NO_MODEL, ""): f"The server has no model {{name}}. Check the name against the models it lists, {_ELSE}",
    (Kind.NO_TEMPLATE, ""): f"{{model}} has no chat template, so it cannot hold a conversation. Choose an instruction-tuned model, {_ELSE}",
    (Kind.NO_REGION, ""): f"Bedrock cannot be reached in {{region}}. Set WATTWISE_REGION to a region that has Bedrock, for example us-east-1, check the network, {_ELSE}",
    (Kind.NOT_RUNNING, "ollama"): f"Ollama does not answer at {{server}}. Start it with `ollama serve`, or set WATTWISE_BASE_URL to where it runs, {_ELSE}",
    (Kind.NOT_RUNNING, ""): f"Nothing answers at {{server}} for {{model}}. Start the server, or set WATTWISE_BASE_URL to where it runs, {_ELSE}",
    (Kind.NO_ADDRESS, "ollama"): f"{{server}} is no address of a server. Set WATTWISE_BASE_URL to a host and a port, for example http://localhost:11434, {_ELSE}",
    (Kind.NO_ADDRESS, "bedrock_converse"): f"{{server}} is no address of a server for {{model}}. Unset WATTWISE_BASE_URL, or write it with https:// in front, for example https://bedrock-runtime.us-east-1.amazonaws.com, {_ELSE}",
    (Kind.NO_ADDRESS, ""): f"{{server}} is no address of a server for {{model}}. Write WATTWISE_BASE_URL with http:// or https:// in front, for example {{likely}}, {_ELSE}",
    (Kind.NO_CHAT_API, "ollama"): f"Ollama's API is not at {{server}}. Set WATTWISE_BASE_URL to where it runs, without a path, for example http://localhost:11434, {_ELSE}",
    (Kind.NO_CHAT_API, ""): f"There is no chat API for {{model}} at {{server}}. Set WATTWISE_BASE_URL to its address, which mostly ends in /v1, for example {{likely}}, {_ELSE}",
    (Kind.WEB_PAGE, ""): f"A web page answers at {{server}} in place of {{model}}, perhaps the login page of a proxy. Log in there, list the server in NO_PROXY, or check WATTWISE_BASE_URL, {_ELSE}",
    (Kind.TOO_LITTLE_MEMORY, "ollama"): f"The machine that runs {{model}} has too little memory for it. Choose a smaller model or one of fewer bits, or set WATTWISE_CONTEXT_TOKENS to less, {_ELSE}",
    (Kind.TOO_LITTLE_MEMORY, ""): f"The machine that runs {{model}} has too little memory for it. Choose a smaller model or one of fewer bits, {_ELSE}",
    (Kind.QUOTA, ""): f"The quota for {{model}} is used up. Raise it with its provider, {_ELSE}",
    (Kind.CONTEXT, ""): f"The question with a single passage is longer than {{model}} can read. Ask shorter, start a new conversation, or choose a model with a larger context, {_ELSE}",
    (Kind.GUARDRAIL, ""): f"The guardrail of {{model}} stopped this answer. Ask in other words, {_ELSE}",
    (Kind.REJECTED, ""): f"{{model}} does not take the request as it is. Check WATTWISE_MAX_TOKENS, WATTWISE_THINKING_TOKENS, WATTWISE_TEMPERATURE and WATTWISE_GUARDRAIL against what the model allows, {_ELSE}",
}  # fmt: skip
