"""A model in this process: a tiny one with random weights, created here and loaded by the real code."""

from pathlib import Path

import pytest

from chatbot import Chatbot, ReaderError
from chatbot.llm.models import ModelSettings

pytestmark = [
    pytest.mark.evaluation,  # importing transformers takes longer than most test files
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama with two layers and a hidden size of 16, and a byte-level tokenizer without merges."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    set_seed(0)
    made = tmp_path_factory.mktemp("model")
    alphabet = ["<unk>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(alphabet)}, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", chat_template=TEMPLATE
    )
    fast.save_pretrained(made)
    config = LlamaConfig(
        vocab_size=len(alphabet), hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=65_536, bos_token_id=None, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(made)
    return made


def test_a_model_in_a_folder_is_loaded_streams_and_what_it_babbles_is_shown_to_nobody(
    bot: Chatbot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    chat = Chatbot(bot.index, f"huggingface:{folder}", ModelSettings(max_tokens=24, passages=2))
    answer = chat.ask("How many Trainium chips are in a trn1.32xlarge?")
    unsupported = f"The sources bear out nothing that huggingface:{folder} wrote, so the offline reader answered."
    assert (answer.refused, answer.notice, answer.model) == (False, unsupported, "offline")
    assert (answer.usage, answer.cost) == (None, None)


def test_a_folder_without_a_model_is_named_with_the_remedy(bot: Chatbot, tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"^There is no model .* on Hugging Face or in a folder of that name"):
        Chatbot(bot.index, f"huggingface:{tmp_path}", ModelSettings()).ask("Trainium?")


def test_a_model_without_a_chat_template_is_named_as_such(bot: Chatbot, folder: Path, tmp_path: Path) -> None:
    import shutil

    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    for name in ("chat_template.jinja",):
        (bare / name).unlink(missing_ok=True)
    with pytest.raises(ReaderError, match="has no chat template, so it cannot hold a conversation"):
        Chatbot(bot.index, f"huggingface:{bare}", ModelSettings(max_tokens=8)).ask("Trainium?")
