"""Sizing questions in the chat: the verdict comes first, every figure is recomputed, every row is cited exactly."""

import itertools
import re
from dataclasses import replace

import pytest

from chatbot import Answer, Chatbot, Turn
from chatbot.figures.sizing_answer import answer_by_sizing
from chatbot.figures.sizing_answer.drafting import draft_of
from chatbot.llm.scripted import ScriptedChatModel
from chatbot.presentation.render import as_json
from chatbot.question.query import understand
from chatbot.sizing import Format, Task, Workload
from chatbot.sizing.asking import Asked
from chatbot.sizing.goals import Goal
from chatbot.sizing.reading import read_question
from chatbot.verification.citations import verify
from chatbot.working import Working, load
from tests.marks import left_to_evaluation


def ask(bot: Chatbot, *turns: str) -> Answer:
    history: list[Turn] = []
    for question in turns:
        answer = bot.ask(question, history)
        history.append(Turn(question, answer.text))
    return answer


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("Will a 34B model in bf16 fit on one L40S?", r"No: a 34B model in bf16 needs 70\.1 GB, 68 GB of it for the weights; an L40S has 48 GB, 43\.2 GB usable \[1\]; 2 of them hold it, as in g6e\.12xlarge, which has 4\."),
        ("Does Llama 3.1 8B fit on an A10G in fp16?", r"Yes: Llama-3\.1-8B in fp16 needs 17\.1 GB, 16\.1 GB of it for the weights \[1\]; an A10G has 24 GB"),
        ("how much do we save a month by going from p4de.24xlarge to p4d.24xlarge?", r"p4de\.24xlarge costs \$[\d,]+ more a month"),
        ("zero-2 with adam on 4 gpus, qwen3-8b, per gpu?", r"45\.1 GB of model state on each of 4 accelerators"),
        ("and on two A100 80GB, llama 3.1 70b in fp16, does it fit?", r"Yes, only just: Llama-3\.1-70B in fp16 needs 144 GB, .* 71\.9 GB on each of 2"),
        ("smallest instance for Llama 3 70B in 8 bits with 16k of context", r"The smallest that holds it is [\w.-]+ \(.*\$\d"),
        ("cheapest way to serve mixtral 8x7b in int8", r"The cheapest that holds it is [\w.-]+ \(.*\$\d"),
        ("How many H100s to serve DeepSeek R1 in fp8 with 32k context and batch of 32?", r"At least 16 × H100 \(2 × p5\.48xlarge\): DeepSeek-R1 in fp8 needs 745 GB, 671 GB of it for the weights, 46\.5 GB on each of 16"),
        ("Full fine-tuning of Llama 3.1 70B with ZeRO-3, activations ignored: minimum number of A100 80GB?", r"At least 16 × A100 \(2 × p4de\.24xlarge\): .* 70\.6 GB on each of 16"),
        ("Full fine-tuning of Llama 3.1 70B with ZeRO-3: minimum number of A100 80GB?", r"At least 17 × A100 by memory \(24 in 3 × p4de\.24xlarge\): "),
        ("What does it cost to run Llama 3.1 8B on g6.xlarge?", r"\$0\.805 an hour, \$588 a month of 730 hours for g6\.xlarge \(on demand, us-east-1, \d{4}-\d\d-\d\d\) \[1\]\."),
        ("How much CO2 does serving Llama 70B on p4d.24xlarge for a week emit in Frankfurt?", r"154 kg of CO2e for 168 hours, 7 days for p4d\.24xlarge in eu-central-1"),
        ("How long to train 7B on 1T tokens on 16 p5.48xlarge?", r"7\.68 to 12\.8 days \(184 to 307 hours\) on 16 × p5\.48xlarge, at 50 % to 30 % of its peak"),
        ("cost per million tokens for llama 3.1 70b on p5.48xlarge", r"At least \$[\d.]+ for a million tokens"),
        ("how much energy for llama 3.1 8b in bf16 on inf2.xlarge?", r"There is no published power figure for .*Inferentia2"),
        ("how many GB do the weights of a 70B model take in int8?", r"The weights of a 70B model in int8 take 70 GB"),
        ("How much energy does serving Llama 3.1 8B on a g6.xlarge use per day?", r"1\.06 kWh a day: g6\.xlarge draws 44\.2 W at 50 % load, .* 1\.22 kWh a day"),
        ("Smallest Inferentia2 instance for Llama 3.1 8B with 32k context and 8 users?", r"The smallest that holds it is inf2\.24xlarge \(6 × Inferentia2\)"),
        ("how many L4s for a 34b model in int8?", r"At least 2 × L4: "),
        ("which instance for gpt-oss 120b with 64 users at 16k context?", r"Use [\w.-]+ \("),
        ("will my model fit on an L4?", r"The sources do not say\. The size of my model is not in the data: give its number of parameters"),
        ("which is cheaper, g5.xlarge or g6.xlarge?", r"g6\.xlarge is cheaper: \$0\.805 an hour"),
        ("How many times the price of a g6.xlarge is a p5.48xlarge?", r"(?s).*p5\.48xlarge costs 68\.4 times as much as g6\.xlarge \[1\]\[2\]\."),
        ("per GB of gpu memory, is a g6e.xlarge cheaper than a p5.48xlarge? by what factor?", r"g6e\.xlarge is cheapest by that\.\np5\.48xlarge costs 2\.22 times as much as g6e\.xlarge by that"),
        ("quanto risparmio al mese se passo da una g5.xlarge a una g6.xlarge?", r"g5\.xlarge costs \$147 more a month"),
        ("finetune takes 19 hours on a p4d.24xlarge. we pay 21.96/h. total?", r"\$417 for 19 hours, \$21\.96 an hour for p4d\.24xlarge \(the price that you give\) \[1\]\."),
        ("Training a 13B on 2 billion tokens on one p4d.24xlarge at 45% MFU: how many days, and what does it cost at $20/h?", r"1\.61 days \(38\.6 hours\) on p4d\.24xlarge, at an MFU of 45 % \[1\]\[2\]\.\nAbout \$772 for 38\.6 hours at an MFU of 45 %, \$20\.00 an hour on p4d\.24xlarge \(the price that you give\)"),
        ("a p5.48xlarge at $9.88 per GPU-hour: what is a month of it on demand?", r".*\$40,200 for a month of 730 hours, \$55\.04 an hour for p5\.48xlarge \(on demand"),
        ("g4dn.xlarge: price for an hour, a day and a month please", r"\$0\.526 an hour, \$12\.62 a day, \$384 a month"),
        ("2 g5.12xlarge and 1 g6.48xlarge, hourly sum?", r"\$24\.69 an hour for 2 × g5\.12xlarge and g6\.48xlarge"),
        ("One g6.xlarge does 400 tokens per second. How much for a billion tokens?", r"\$559 for a billion tokens"),
        ("p5en.48xlarge serving 40,000 tokens/s but busy only 60 % of the time, price of a million tokens?", r"\$0\.733 for a million tokens at 40,000 tokens a second for 60 % of the time"),
        ("Cheaper per A100: p4d or p4de? I don't mind the memory", r"p4d\.24xlarge is cheapest by that\.\n- \$2\.74 an hour for each A100"),
        ("7B on 20B tokens at 40 % MFU: is one p4d.24xlarge or one p5.48xlarge cheaper for the whole run?", r"p5\.48xlarge is cheaper for the run\.\n- About \$5,130 for 234 hours"),
        ("20B model, fp16, has to be g5. whats the cheapest size", r"The cheapest that holds it is g5\.12xlarge"),
        ("what is the cheapest Azure VM for Llama 3.1 70B in int8?", r"The sources do not say\. "),
        ("p5.48xlarge for 10 hours in London, price?", r"The sources do not say\. The data has no price in eu-west-2\. On demand in us-east-1, p5\.48xlarge is \$55\.04 an hour"),
        ("does Gemini 2.5 Pro fit on a p5en.48xlarge?", r"The sources do not say\. The size of gemini 2\.5 pro is not in the data: "),
        ("KV cache of Llama 3.1 8B with a context of -4096 tokens", r"Context cannot be -4096"),
        ("What do 0 g5.xlarge cost for 10 hours?", r"Instances cannot be 0: give at least 1\."),
        ("What do 2 g5.xlarge and zero g6.xlarge cost a month?", r"Instances cannot be 0"),
        ("0 H100 for 10 hours, what do they cost?", r"Accelerators cannot be 0"),
        ("We have 0 GPUs today. What does a g5.xlarge cost a month?", r"\$734 a month of 730 hours, \$1\.01 an hour for g5\.xlarge"),
        ("MiniMax-M2.5 with int8 weights, no Blackwell please: which NVIDIA instance costs least?", r"Use p4d\.24xlarge"),
        ("Peak traffic is 20,000 tokens per second. One g6e.xlarge manages 1,500, so how many instances is that?", r"14 × g6e\.xlarge, for 20,000 tokens a second at 1,500 .*\$19,000 for 730 hours"),
        ("Does Llama 3.1 405B in bf16 fit on 16 H100?", r"Yes: "),
        ("Trainium 6 cheapest instance?", r"The sources do not say\. There is no Trainium 6 in the data"),
        ("trn2.48xlarge on demand for 10 hours, total?", r"The sources do not say\. There is no published on-demand price of trn2\.48xlarge .* Capacity Blocks\.$"),
        # 2 × 1.006 + 21.957642; (2 × 21.957642 + 3 × 1.006) × 24
        ("What do 2 g5.xlarge and 1 p4d.24xlarge cost per hour?", r"\$23\.97 an hour for 2 × g5\.xlarge and p4d\.24xlarge \(on demand, "),
        ("How much do I pay for 2 p4d.24xlarge and three g5.xlarge for 24 hours?", r"\$1,130 together for 2 × p4d\.24xlarge and 3 × g5\.xlarge "),
        ("What is the difference between 2 g5.xlarge and 1 g5.12xlarge per hour?", r"g5\.12xlarge costs \$3\.66 more an hour than 2 × g5\.xlarge"),
        # More accelerators than any one machine has are several machines: 12 × 6.88, 2 × 21.957642.
        ("What do 12 H100 GPUs cost per hour?", r"\$82\.56 an hour for 12 × p5\.4xlarge \(on demand, "),
        ("What do 16 A100 cost per hour?", r"\$43\.92 an hour for 2 × p4d\.24xlarge \(on demand, "),
        # Prices of anywhere else are not in the data.
        ("Cheapest GPU instance not in us-east-1?", r"The sources do not say\. The data has prices in us-east-1: name the Region whose prices you want\.$"),
        ("List GPU instances under $1 outside us-east-1", r"The sources do not say\. The data has prices in us-east-1: "),
        ("price of g5.xlarge outside Virginia", r"The sources do not say\. The data has prices in us-east-1: "),
        # A sum that a price is held against is not that price.
        ("Is g5.xlarge cheaper than $1 an hour?", r"No: g5\.xlarge costs \$1\.01 an hour \(on demand, us-east-1, \d{4}-\d\d-\d\d\) \[1\], and the limit is \$1 an hour\.$"),
        ("Is p4d.24xlarge under $22 an hour?", r"Yes: p4d\.24xlarge costs \$21\.96 an hour .*, and the limit is \$22 an hour\.$"),
        ("Is p4d.24xlarge more than $22 an hour?", r"No: p4d\.24xlarge costs \$21\.96 an hour .*, and the limit is \$22 an hour\.$"),
        ("Does g5.xlarge cost less than $700 a month?", r"No: g5\.xlarge costs \$1\.01 an hour, \$734 a month"),
        ("Can I rent p5.48xlarge for $40 an hour?", r"Not one p5\.48xlarge: it costs \$55\.04 an hour"),
        ("Does p4d.24xlarge really cost $32.77 an hour?", r"No: p4d\.24xlarge costs \$21\.957642 per hour"),
        ("With a negotiated price of $30 an hour for p5.48xlarge, what is the cost for 100 hours?", r"\$3,000 for 100 hours, \$30\.00 an hour for p5\.48xlarge \(the price that you give\)"),
        # 10 × 1.006; an exchange rate is no price.
        ("What does a g5.xlarge cost in euros for 10 hours at 0.92 EUR per USD?", r"No exchange rate is in the data, so this is in US dollars\.\n\$10\.06 for 10 hours"),
        ("how many g5.xlarge can I run for $2000 a month with 20% off?", r"3 × g5\.xlarge: each costs \$0\.805 an hour, \$588 a month of 730 hours with 20 % off "),
        ("$40k of credits that expire in 6 months: how many hours of a p5.48xlarge?", r"\$40,000 pays for 727 hours"),
        ("carbon of one p5.48xlarge for a day in eu-moon-1?", r"There are no figures for a region 'eu-moon-1'"),
        ("kv cache llama 3 8b 256k tokens", r"Llama-3\.1-8B takes 131,072 tokens at most, not 262,144\. The KV cache of Llama-3\.1-8B takes 17\.2 GB"),
        (
            "kv cache of llama 3.1 8b vs Qwen3-32B at 100k tokens",
            r"Qwen3-32B takes 40,960 tokens at most, not 100,000\.\n- The KV cache of Llama-3\.1-8B takes 13\.1 GB for 100,000 tokens in bf16 \[1\]\.\n- The KV cache of Qwen3-32B takes 10\.7 GB for 40,960 ",
        ),
        ("KV cache at the full context: Llama 3.1 8B or Qwen3-32B?", r"- The KV cache of Llama-3\.1-8B takes 17\.2 GB for 131,072 tokens in bf16 \[1\]\.\n- The KV cache of Qwen3-32B takes 10\.7 GB for 40,960 "),
        ("will a 13B model fit on an H100 at full context?", r"Yes: a 13B model in bf16 needs 27\.3 GB, .*"),
        ("carbon of training Llama 3.1 8B on 1B tokens: p4d.24xlarge or p5.48xlarge?", r"p5\.48xlarge emits less for the run\.\n- At least 10\.9 kg of CO2e for 10\.7 hours .*\n- At least 5\.73 kg of CO2e for 3\.38 hours "),
        ("energy of a LoRA of Llama 3.1 8B on 100M tokens on a g6e.xlarge?", r"At least 1\.71 kWh for 7\.39 hours at 50 % of its peak \(MFU\) on g6e\.xlarge in us-east-1, at 50 % load \(assumed\) "),
        ("How much energy to serve Llama 3.1 8B at 1000 tokens per second on a g6e.xlarge?", r"55\.8 Wh for a million tokens at 1,000 tokens a second"),
        ("Will Llama 3.1 8B fit on a g9.xlarge?", r"The sources do not say\. There is no g9\.xlarge in the data\.$"),
        ("monthly cost for Llama 3.1 8B vs Llama 3.1 70B on trn2.48xlarge", r"The sources do not say\. There is no published on-demand price of trn2\.48xlarge in the data: it is sold by Capacity Blocks\.$"),
        ("largest model on a g6e.12xlarge", r"At most 85B parameters in bf16: "),
        ("Llama 3.1 70B in bf16 on 8 H100, one sequence: at most how many tokens a second?", r"At most 190 tokens a second "),
        ("Shifting 2 MWh of compute from us-east-2 to ca-central-1 would avoid how much CO2?", r"629 kg of CO2e less in ca-central-1 than in us-east-2"),
        ("host power of p6-b200.48xlarge without its GPUs?", r"The sources do not say\. There is no published power figure for the host of p6-b200\.48xlarge"),
        ("Eight idle H200s over a 48-hour weekend burn how much energy, GPUs only?", r"23 kWh for 48 hours, 2 days: 8 × H200 \(141 GB\) draw 480 W idle, 60 W each, 700 W at most \[1\]"),
        ("how many FLOPs does it take to train Llama 3.1 70B on 2T tokens?", r"The whole training computes 8\.47e23 FLOPs: 6 × 70\.55e9 parameters × 2e12 tokens \[1\]\.$"),
        ("How many days to train Llama 3.1 8B on 1T tokens on 64 H100?", r"17\.6 to [^\n]*\nThe whole training computes 4\.82e22 FLOPs"),
        ("Our EDP takes 17 percent off list. One p4de.24xlarge, full month, after the discount?", r"\$16,600 for a month of 730 hours"),
        ("Quote me: sixteen p5.48xlarge x 72 hrs, and pad it 20 pct for reruns", r"\$76,100 for 72 hours"),
        ("dollars per hour per GB of GPU memory, p4de vs p5en. who wins", r"Cheapest per GB of accelerator memory: p4de\.24xlarge \(8 NVIDIA A100 GPUs\), \$0\.0429 an hour per GB: \$27\.44705 / \(8 × 80 GB\)"),
        ("utilisation of our p5.48xlarge is a sad 35%. so effectively what does one useful GPU hour cost us", r"\$19\.66 an hour that it is used"),
        ("From how many tokens a month on does a g6e.12xlarge that is never off beat an API at $4 per million tokens?", r"From 1,910 million tokens a month on"),
        ("Need to generate 400M tokens every day. One g6e.xlarge sustains fifteen hundred tok/s. How many do I need around the clock and what's the monthly price?", r"4 × g6e\.xlarge, for 4,630 tokens a second at 1,500 .*\$5,430 for 730 hours"),
        ("three g6.48xlarge plus one g4dn.xlarge, everything always on. monthly total pls", r"\$29,600 together for 3 × g6\.48xlarge and g4dn\.xlarge"),
        ("If our g6.12xlarge were only up 50 hours of the 168 in a week, how much would we save each month compared to leaving it on?", r"\$2,360 a month, 70\.2 %"),
        ("Lowest hourly rate for a machine with eight NVIDIA GPUs in it, but no K80, no P2", r"Cheapest: g4dn\.metal .*costs \$7\.824 per hour"),
        ("absolute cheapest nvidia thing on ec2 on demand? a slice of a gpu is fine", r"g6f\.large is the cheapest type"),
        ("405B dense, 15.6T tokens, 400 TFLOP/s really achieved per gpu: total gpu-hours?", r"26\.3 million accelerator-hours"),
        ("LoRA r=16 only on q_proj and v_proj of llama 3.1 8b: how many MB is the trainable part?", r"The adapter of rank 16 of Llama-3\.1-8B takes 109 MB"),
        ("What will the on-demand price of p5.48xlarge be in 2030?", r"The sources do not say\."),
        ("What will a p5.48xlarge cost per hour next summer? I need one number for Q3.", r"The sources do not say\. Prices of next summer are not in the data"),
        ("LoRA of a 7B on about 20,000 support tickets: how much memory?", r"LoRA fine-tuning of a 7B model in bf16 needs 15\.3 GB"),
        ("1000 kWh in us-east-1: CO2e with PUE?", r"442 kg of CO2e in US East"),
        ("Can I full fine-tune Llama 3.1 8B in int4 on an H100?", r"int4 weights cannot be trained in full: use QLoRA"),
        ("what does training on inf2.48xlarge for 14 days cost?", r"Inferentia serves models and does not train them\.\n\$4,360 for 336 hours"),
        ("How many 80 GB cards for a full finetune of an 8B?", r"At least 2 GPUs: full fine-tuning of an 8B model in bf16 needs 129 GB, .* 2 GPUs have 80 GB each, 72 GB usable\.\n"),
        ("Full fine-tune of an 8B model. How much GPU memory is that before activations, and how many 80 GB cards do I need?", r"Full fine-tuning of an 8B model in bf16 needs 128 GB; a GPU has 80 GB, 72 GB usable; 2 of them hold it\.\n"),
        ("Could a single GPU of a g5.12xlarge hold a 34B model in int4?", r"Yes, only just: a 34B model in int4 needs 19\.7 GB, .* an A10G has 24 GB, 21\.6 GB usable \[1\]\.\n"),
        ("My model is 26 GB in fp16: does it fit on an L4?", r"No: a 13B model in fp16 needs 27\.3 GB, 26 GB of it for the weights; an L4 has 24 GB, 21\.6 GB usable \[1\]; 2 of them hold it, as in g6\.12xlarge, which has 4\.\n"),
        ("What is the largest model for an 80 GB GPU in int4?", r"At most 133B parameters in int4: .*; an A100 has 80 GB, 72 GB usable \[1\]\.\n"),
        ("how many tokens/s does an A10G get when training a 1.3B GPT?", r"233 to 388 million tokens in 24 hours on one A10G, .*\nTokens a second: 0\.5 × 70e12 / \(6 × 1\.3e9\) = 4,490 "),
        ("azure nd h100 price vs p5", r"The sources do not say\. The data has no prices of other clouds\. One p5\.4xlarge is \$6\.88 an hour on demand in us-east-1\.$"),
        ("Is a single H100 enough for 70B inference?", r"No: a 70B model in bf16 needs 143 GB, .*; an H100 has 80 GB, 72 GB usable \[1\]; 2 of them hold it, as in p5\.48xlarge, which has 8\.\n"),
        ("2,840 tok/s for Llama 3 70B on one inf2.48xlarge at 128 concurrency, plausible?", r"By the bound, yes: at most 9,580 tokens a second for 128 sequences together"),
        ("How many A100 80GB or H200 for Llama 405B?", r"- At least 16 × A100 \(2 × p4de\.24xlarge\): .*\n- At least 8 × H200: "),
        ("i have 5k a month: a 70b chat model, 24/7. what can i run", r"Nothing that holds it is within the budget; the nearest is g7e\.12xlarge .*\n.*\nIn int8 g7e\.2xlarge .* is enough"),
        ("what do 16 p5 cost a day?", r"\$21,100 a day, \$881 an hour for 16 × p5\.48xlarge "),
        ("What does it cost to serve Llama 70B on a GB200?", r"No machine with a price in the data has the GB200, so this is of another\.\n\$6\.49 an hour"),
    ],
)  # fmt: skip
def test_the_verdict_and_its_figure_come_first(bot: Chatbot, question: str, opening: str) -> None:
    answer = bot.ask(question)
    assert re.match(opening, answer.text), answer.text
    assert answer.dropped == 0
    assert len(answer.text.splitlines()) <= 4


def test_every_line_of_an_answer_is_shown_with_its_arithmetic_and_its_price(bot: Chatbot) -> None:
    verdict, arithmetic, launch, change = bot.ask("Will a 34B model in bf16 fit on one L40S?").text.splitlines()
    assert verdict.startswith("No: ")
    assert arithmetic.startswith("Weights: 34e9 parameters × 2 bytes = 68 GB; KV cache: 2 × 8 key/value heads × ")
    assert re.match(r"Use [\w.-]+ \(\d+ × .*\), \$\d+\.\d\d an hour \(on demand, us-east-1, \d{4}-\d\d-\d\d\) \[", launch)
    assert change.startswith("In int8 it fits, with 36.1 GB. Assumed: ")


def test_a_fleet_divided_without_numbers_is_asked_about(bot: Chatbot) -> None:
    answer = bot.ask("half on spot, rest on demand: 20 g5.xlarge for a month, spot is 60% off")
    assert answer.text == "Say how many of the machines get the discount, as in: 20 machines, 10 at 60 % off and 10 on demand."


def test_a_count_may_stand_behind_an_instance_type(bot: Chatbot) -> None:
    assert bot.ask("price of g5.2xlarge x4 for 10 hours").text.startswith("$48.48 for 10 hours, $4.85 an hour for 4 × g5.2xlarge (")


def test_a_machine_and_the_terms_of_its_price_are_told_once(bot: Chatbot) -> None:
    first, _, last = bot.ask("Serve Llama 3.1 70B with 32k context").text.splitlines()
    assert re.fullmatch(
        r"Use g7e\.12xlarge \(2 × RTX PRO Server 6000\), \$8\.29 an hour \(on demand, us-east-1, [\d-]+\) \S+: Llama-3\.1-70B in bf16 needs 152 GB, 141 GB of it for the weights,"
        r" 76 GB on each of 2 \S+; inf2\.24xlarge \(6 × Inferentia2\), \$6\.49 an hour \S+ only just holds it\.",
        first,
    )
    assert last.startswith("In int8 inf2.24xlarge is enough. Assumed: ")


def test_quotes_are_exact_and_each_number_of_the_json_leads_to_one(bot: Chatbot) -> None:
    answer = bot.ask("Does Llama 3.1 8B fit on an A10G in fp16?")
    for citation in answer.citations:
        assert citation.passage.chunk.document.text[citation.start : citation.end] == citation.quote
    marks = {int(n) for n in re.findall(r"\[(\d+)\]", answer.text)}
    assert {c["number"] for c in as_json(answer)["citations"]} == marks == set(range(1, len(marks) + 1))


def test_a_follow_up_keeps_what_it_does_not_name(bot: Chatbot) -> None:
    turns = ["Will Llama 3.1 8B in bf16 fit on an L4 with 8k context?"]
    assert ask(bot, *turns).text.startswith("Yes: Llama-3.1-8B in bf16 needs 17.1 GB")
    turns.append("for 20 users?")
    assert ask(bot, *turns).text.startswith("No: Llama-3.1-8B in bf16 needs 37.5 GB")
    turns.append("and in 4 bit on an L40S?")
    assert ask(bot, *turns).text.startswith("Yes: Llama-3.1-8B in int4 needs 25.6 GB")
    turns.append("what about the 70B?")
    assert ask(bot, *turns).text.startswith("No: Llama-3.1-70B in int4 needs ")
    turns.append("how much is that per month?")
    assert re.match(r"\$7,660 a month of 730 hours, .*\ng6e\.12xlarge holds it: Llama-3\.1-70B in int4", ask(bot, *turns).text)


def test_regions_are_compared_side_by_side(bot: Chatbot) -> None:
    verdict, first, second, _, held, _ = bot.ask("Which is greener for serving llama 3.1 8B in bf16, Stockholm or Virginia?").text.splitlines()
    assert verdict == "eu-north-1 emits less: us-east-1 emits 11.4 times as much."
    assert re.match(r"- 1\.71 g of CO2e an hour, 1\.25 kg of CO2e a month of 730 hours for g6\.xlarge in eu-north-1", first)
    assert re.match(r"- 19\.5 g of CO2e an hour, 14\.3 kg of CO2e a month of 730 hours for g6\.xlarge in us-east-1", second)
    assert held.startswith("g6.xlarge holds it: Llama-3.1-8B in bf16 needs 17.1 GB")


@pytest.mark.parametrize(
    ("turns", "openings"),
    [
        (("Mixtral 8x7B: g6e.12xlarge or p4d?",), ("g6e.12xlarge is enough, and the cheaper of the two: Mixtral-8x7B in bf16 needs 94.5 GB, 93.4 GB of it for the weights [1].", "- g6e.12xlarge: fits", "- p4d.24xlarge: fits", "At most 129 tokens a second on g6e.12xlarge and 463 tokens a second on p4d.24xlarge for one sequence, by the bound of memory bandwidth")),
        (("Offline inference with Llama 3.1 405B for synthetic data, about 2B output tokens in total. p5, p5en or p4de? I have about 40k USD.",), ("2 × p4de.24xlarge is enough, and the cheapest of these: Llama-3.1-405B in bf16 needs 816 GB", "- 2 × p5.48xlarge", "- p5en.48xlarge", "- 2 × p4de.24xlarge")),
        (("Does a 70B model fit on g6.xlarge in bf16 or in fp8?",), ("Neither fits.", "- g6.xlarge: does not fit, a 70B model in bf16", "- g6.xlarge: does not fit, a 70B model in fp8")),
        (("Does a 70B model fit on H100 or on H200?",), ("p5.48xlarge is enough, and the cheaper of the two: a 70B model in bf16 needs 143 GB, 140 GB of it for the weights.", "- 2 × H100: just fits", "- 2 × H200: fits", "At most 47 tokens a second on 2 × H100 and 67.3 tokens a second on 2 × H200 for one sequence")),
        (("Does a 70B model fit on H200 or on H100?", "in fp8"), ("p5.48xlarge is enough, and the cheaper of the two", "- One H200: fits", "- 2 × H100: fits")),
        (("finetune 70b full weights, 2 nodes of p5 enough or do we need 4?",), ("At least 3 × p5.48xlarge",)),
        (("deadline in 3 weeks, budget 20k, want to fine-tune llama 70b with lora. p4d or p5?",), ("p4d.24xlarge is enough, and the cheaper of the two", "- p4d.24xlarge: fits", "- p5.48xlarge")),
        (("Which of g6.xlarge and g5.xlarge for Mistral 7B with 8 users?",), ("Neither fits.", "- g6.xlarge: just does not fit", "- g5.xlarge: just does not fit", "Use g6e.xlarge", "In int8 g6.xlarge holds it, with 15.8 GB")),
        (("We have g5.xlarge. Is it enough for Llama 3.1 8B with 25 chats at once of 3k tokens, or do we need a g6e.xlarge?",), ("Only g6e.xlarge will do.", "- g5.xlarge: does not fit", "- g6e.xlarge: fits", "In int8 g5.xlarge holds it, with 17.9 GB")),
        (("Does full fine-tuning of Whisper large v3 on 40h of clear speech fit on a g5.xlarge or do I need an A100?",), ("Only p4d.24xlarge will do.", "- g5.xlarge: does not fit", "- One A100: fits", "With LoRA g5.xlarge holds it, with 3.38 GB")),
        (("Our team serves Llama 3.1 8B: g5.xlarge, g6.xlarge or g6e?",), ("g6.xlarge is enough, and the cheapest of these", "- g5.xlarge: fits", "- g6.xlarge: fits", "- g6e.xlarge")),
        (("We have 2 g5.2xlarge for Mistral Small 24B, is that enough? We could quantise.",), ("No: Mistral-Small-24B-Base-2501 in bf16", "Weights", "Use ", "In int8 it fits, with 24.9 GB")),
        (("How many KB of KV cache per token has Llama 3.1 70B in fp16, and how many 4k sequences fit on 4 L40S with fp8 weights?",), ("The KV cache of Llama-3.1-70B takes 328 kB for 1 token", "At most 76 sequences at once, of 4,096 tokens each")),
        (("can i run llama 70b on inf2.48xlarge", "how many users could it serve at once roughly with 4k context", "and the same on trn1?"), ("At most 131 sequences at once, of 4,096 tokens each",)),
        (("405b full fine-tuning with adam, how many p5.48xlarge for the states alone? forget activations",), ("At least 12 × p5.48xlarge: full fine-tuning of a 405B model in bf16 needs 6,480 GB",)),
        (("g6e.12xlarge or p4d.24xlarge for a 70B, which has more tokens per dollar?",), ("p4d.24xlarge gives more tokens for a dollar",)),
        (("Cheapest GPU instance for a 13B model?", "and on spot?"), ("The data has no price of Spot Instances.", "The cheapest that holds it is g6e.xlarge")),
        (("She wants to pretrain a 1.3B model on 30B tokens. On 8x A100 (p4d) at 40% MFU how many days is this and what does it cost? She has a 5k budget",), ("2.71 days (65.1 hours) on p4d.24xlarge, at an MFU of 40 % [1][2]. It costs about $1,430, within your $5,000, on p4d.24xlarge",)),
        (("one g5.12xlarge, $2000/month?",), ("Not one g5.12xlarge: it costs $5.67 an hour, $4,140 a month",)),
        (("What does a g5.xlarge cost a month on spot at 60% off?",), ("$294 a month of 730 hours, $0.402 an hour for g5.xlarge, with 60 % off",)),
        # 3 × 1.006 × 168 × 0.8 = 405.6
        (("What does g5.xlarge cost?", "with 20% off for a week", "and 3 of them"), ("$406 for 168 hours, 7 days, $2.41 an hour for 3 × g5.xlarge, with 20 % off",)),
        # (252.8 + 8 × 407) W × 1.15 × 336 h × 0.35 kg
        (("I had one p4d.24xlarge busy for 14 days straight. What's that in kWh and kg CO2? take 0.35 kg/kWh for Virginia",), ("1,360 kWh and 475 kg of CO2e for 336 hours, 14 days for p4d.24xlarge in us-east-1, at 100 % load",)),
        # (338.9 + 8 × 700) W × 1.11 × 8,760 h × 0.28 kg
        (("Roughly how much electricity does one H100 use in a month flat out?", "now the whole p5 node, with PUE", "and in tonnes of CO2 per year if that were in Ireland at 0.28 kg/kWh"), ("16.2 t of CO2e a year for p5.48xlarge in eu-west-1, at 100 % load",)),
        (("20 g6.xlarge in Frankfurt for a year, PUE 1.3: how much CO2 at 380 g/kWh?",), ("3,820 kg of CO2e for a year for 20 × g6.xlarge in eu-central-1, at 50 % load (assumed)",)),
        (("g5.xlarge 10 hours a day cost per month", "and per year?"), ("$3,670 for 3,650 hours, $1.01 an hour",)),
        (("Does an 8B with 64k of context fit on a g6.xlarge?", "would the next size up in the family fix it?"), ("No: an 8B model in bf16 needs 24.6 GB",)),
        (("How much CO2 does a g5.12xlarge emit a month?", "is it lower in Stockholm?"), ("eu-north-1 emits less",)),
    ],
)  # fmt: skip
def test_what_is_asked_beside_the_first_figure_is_answered(bot: Chatbot, turns: tuple[str, ...], openings: tuple[str, ...]) -> None:
    lines = ask(bot, *turns).text.splitlines()
    assert all(line.startswith(opening) for line, opening in zip(lines, openings, strict=False)), lines


def test_figures_of_the_turn_before_are_no_answer_to_what_a_turn_supposes(bot: Chatbot) -> None:
    turns = ("so what do 2 p5.48xlarge cost for 3 weeks", "and if we drop one of the two for the third week")
    assert "$55,500" not in ask(bot, *turns).text


def test_a_monthly_budget_is_held_against_the_hours_that_a_machine_runs(bot: Chatbot) -> None:
    turns = ("Llama 3.1 8B for 200 beta users, budget $1,500 a month all in", "traffic is only 9 to 6 on weekdays", "so would you still go with the 24 GB card, or can we afford the 48 GB one?")
    assert [re.sub(r" \(on demand, [^)]*\)", "", line) for line in ask(bot, *turns).text.splitlines()] == [
        "Yes: g6.xlarge costs $0.805 an hour, $157 for 195.5 hours [1], and the budget is $1,500 a month.",
        "Yes: g6e.xlarge costs $1.86 an hour, $364 for 195.5 hours [2], and the budget is $1,500 a month.",
    ]
    assert ", one sequence at a time" in ask(bot, turns[0]).text


def test_an_rtx_4090_box_is_one_machine(bot: Chatbot) -> None:
    assert not read_question("our product runs off an RTX 4090 box", load(bot.index).known).slots.keys() & {"instances"}


def test_cards_that_are_named_by_their_memory_are_compared_by_a_machine_of_each(bot: Chatbot) -> None:
    answer = ask(bot, "Does Qwen2.5 32B in int8 fit on a 24 GB card or only on a 48 GB card?")
    assert [line.partition(",")[0] for line in answer.text.splitlines()][:3] == ["Only g6e.xlarge will do.", "- g6.xlarge: does not fit", "- g6e.xlarge: fits; a g6e.xlarge has 48 GB"]


def test_only_what_holds_it_is_advised(bot: Chatbot) -> None:
    answer = bot.ask("What instance do I need to serve llama 3.1 70b in bf16 for 20 users with 16k context under $1/h?")
    assert answer.text.startswith("Nothing that holds it is within the budget; the nearest is ")


def test_another_model_is_asked_of_the_same_machines(bot: Chatbot) -> None:
    before = Turn("g6e.12xlarge or p4d for Mixtral 8x7B?", "")
    answer = bot.ask("and for llama 70b", [before]).text
    assert re.match(r"g6e\.12xlarge is enough, and the cheaper of the two: Llama-3\.3-70B in bf16 needs 144 GB, .*\n- g6e\.12xlarge: fits, .*\n- p4d\.24xlarge: fits, ", answer), answer


def test_a_follow_up_asks_of_all_machines_that_were_compared(bot: Chatbot) -> None:
    first = "Serving Llama 3.1 70B, 8k context, batch around 16. I'm looking at inf2.48xlarge, p4d.24xlarge, g6e.12xlarge. What fits?"
    openings = [line.split(",")[0] for line in ask(bot, first, "and in 4 bit?").text.splitlines()[:4]]
    assert openings == [
        "g6e.12xlarge is the cheapest that will do.",
        "- inf2.48xlarge: does not run it",
        "- p4d.24xlarge: fits",
        "- g6e.12xlarge: fits",
    ]
    assert ask(bot, first, "and in 4 bit?", "with 32k of context").text.startswith("Only p4d.24xlarge will do.")


def test_exam_questions_and_documents_are_left_to_others(bot: Chatbot) -> None:
    for question in (
        "Will a 34B model in bf16 fit on one L40S?\nA. Yes\nB. No",
        "Which hardware for pre-training a 70B model on AWS?",
        "How many GPUs does p5.48xlarge have?",
    ):
        assert answer_by_sizing(understand(question, (), bot.index), bot.index) is None


def test_with_a_language_model_the_figures_are_still_computed(bot: Chatbot) -> None:
    with_model = Chatbot(bot.index, ScriptedChatModel(replies=["It certainly fits [1]."]))
    answer = with_model.ask("Will a 34B model in bf16 fit on one L40S?")
    assert (answer.text, answer.model) == (bot.ask("Will a 34B model in bf16 fit on one L40S?").text, "offline")


def test_an_index_without_facts_answers_from_its_documents(tmp_path_factory: pytest.TempPathFactory) -> None:
    from ingest import Index, sync

    folder = tmp_path_factory.mktemp("documents")
    (folder / "notes.md").write_text("# Memory\n\nA 34B model needs 68 GB in bf16.\n", encoding="utf-8")
    sync([folder], folder / "index", encoder="none")
    index = Index.open(folder / "index")
    assert answer_by_sizing(understand("Will a 34B model in bf16 fit on one L40S?", (), index), index) is None


MODELS = ({"model": "meta-llama/Meta-Llama-3.1-70B"}, {"parameters": 7e9}, {"model": "deepseek-ai/DeepSeek-V3"})
MACHINES = ({}, {"accelerator": "L4"}, {"accelerator": "H100", "accelerators": 64}, {"instance_type": "g6.xlarge"}, {"instance_type": "trn2.48xlarge", "instances": 2})
TASKS = (
    {"task": Task.SERVE, "weights": Format.INT4, "sequences": 16},
    {"task": Task.SERVE, "hours": 12.0, "region": "eu-north-1", "tokens_per_second": 1000.0},
    {"task": Task.PRETRAIN, "tokens": 1.4e12, "mfu": 0.4},
    {"task": Task.FULL, "tokens": 2e9, "hours": 100.0},
    {"task": Task.LORA},
)  # fmt: skip


# Each goal is tested with every `step`-th combination, starting at a different offset for each goal.
@pytest.mark.parametrize("step", [19, *left_to_evaluation(1)])
@pytest.mark.parametrize("goal", [*Goal])
def test_no_sentence_of_a_sizing_is_dropped_whatever_is_asked(bot: Chatbot, goal: Goal, step: int) -> None:
    tables = load(bot.index)
    grid = itertools.product(MODELS, MACHINES, TASKS)
    for model, machine, task in itertools.islice(grid, list(Goal).index(goal) % step, None, step):
        asked = Asked(Workload(**model, **machine, **task), (goal,))  # type: ignore[arg-type]
        draft = draft_of(asked, Working(tables, bot.index, ["how long, how fast and how much"]))
        verified = verify(draft.text, draft.evidence, computed=draft.computed, said=draft.said)
        assert verified.dropped == (), (asked.workload, draft.text)
        assert verified.text


@pytest.mark.parametrize("hours", [None, *left_to_evaluation(1.0, 24.0, 168.0, 730.0, 8760.0)])
@pytest.mark.parametrize("goal", [Goal.COST, Goal.ENERGY, Goal.CARBON, Goal.WATER])
def test_no_sentence_on_machines_alone_is_dropped(bot: Chatbot, goal: Goal, hours: float | None) -> None:
    tables = load(bot.index)
    work = Workload(hours=hours)
    for name, count, region in itertools.product(("g6.xlarge", "p5.48xlarge", "g6f.large", "trn2.48xlarge", "m7i.large"), (None, 3), (None, "eu-north-1")):
        first = replace(work, instance_type=name, instances=count, region=region, load=0.8 if count else None)
        for others in ((), (replace(first, instance_type="g5.xlarge"), replace(first, region="ap-south-1"))):
            asked = Asked(first, (goal,), others=others)
            draft = draft_of(asked, Working(tables, bot.index, ["how much a day"]))
            verified = verify(draft.text, draft.evidence, computed=draft.computed, said=draft.said)
            assert verified.dropped == (), draft.text
            assert verified.text


WORK_OF_HARDWARE = (
    Workload(instance_type="g6.xlarge"),
    Workload(instance_type="g6.xlarge", hours=210.0, region="eu-north-1", load=0.8),
    Workload(instance_type="p5.48xlarge", accelerators=64, hours=240.0, budget=50_000.0),
    Workload(instance_type="g5.xlarge", tokens_per_second=600.0, load=0.5, region="ap-south-1"),
    Workload(instance_type="g6e.2xlarge", tokens_per_second=2500.0, tokens=2e9),
    Workload(tokens=2e9, hours=120.0),
    Workload(accelerator="H100", accelerators=100, hours=1.0, region="eu-west-1"),
    Workload(accelerator="A100", load=0.6, budget_per_month=9_000.0),
    Workload(accelerator="Inferentia2", hours=24.0),
    Workload(accelerator="L4", tokens_per_second=50.0, hours=8760.0),
    Workload(families=frozenset({"p5en"}), budget_per_hour=100.0),
    Workload(instance_type="trn2.48xlarge", budget=1e6, tokens_per_second=10.0),
    Workload(kwh=12_000.0, region="us-east-1"),
)  # fmt: skip


@pytest.mark.parametrize("step", [5, *left_to_evaluation(1)])
@pytest.mark.parametrize("goal", [*Goal])
def test_no_sentence_on_hardware_is_dropped_whatever_is_asked(bot: Chatbot, goal: Goal, step: int) -> None:
    tables = load(bot.index)
    grid = itertools.product(WORK_OF_HARDWARE, (False, True), ("idle, a thousand tokens a day", "embodied carbon of one gpu"))
    for work, other, words in itertools.islice(grid, list(Goal).index(goal) % step, None, step):
        others = (replace(work, region="eu-central-2"),) if other else ()
        for goals in ((goal,), (goal, Goal.DIFFERENCE)):
            draft = draft_of(Asked(work, goals, others=others), Working(tables, bot.index, [words]))
            verified = verify(draft.text, draft.evidence, computed=draft.computed, said=draft.said)
            assert verified.dropped == (), (work, goals, draft.text)
            assert verified.text


@pytest.mark.parametrize(
    ("goals", "work", "opening"),
    [
        # 6 × 8.03e9 × 1e12 / (0.4 × 989e12 × 720 × 3600) = 46.98 accelerators
        ((Goal.DEADLINE,), Workload(model="meta-llama/Meta-Llama-3.1-8B", tokens=1e12, hours=720, mfu=0.4, accelerator="H100"), "At least 47 × H100 (6 × p5.48xlarge (8 × H100), $330 an hour "),
        ((Goal.COUNT,), Workload(parameters=7e9, tokens=1e12, hours=360, mfu=0.4, accelerator="H100"), "At least 82 × H100 (11 × p5.48xlarge "),
        ((Goal.DEADLINE,), Workload(parameters=7e9, accelerator="H100"), "Say how many tokens the training sees"),
        ((Goal.TOKENS,), Workload(model="meta-llama/Meta-Llama-3.1-8B", hours=168, mfu=0.4, accelerator="H100", accelerators=8), "39.7 billion tokens in 168 hours on 8 × H100, at an MFU of 40 %"),
        ((Goal.TOKENS,), Workload(parameters=7e9, accelerator="H100"), "0.61 to 1.02 billion tokens in 24 hours on one H100"),
        # 2 × 8.03e9 × 8,192 / (0.4 × 989e12) = 0.3326 s
        ((Goal.PREFILL,), Workload(model="meta-llama/Meta-Llama-3.1-8B", context=8192, mfu=0.4, accelerator="H100"), "0.333 s to the first token of a prompt of 8,192 tokens, 24,600 tokens a second of prompts at an MFU of 40 %"),
        ((Goal.PREFILL,), Workload(model="meta-llama/Meta-Llama-3.1-70B", accelerator="H100", accelerators=8), "16,800 to 28,000 tokens a second of prompts, "),
        # 32.76e9 × 4.125 / 8 bytes over 864 GB/s
        ((Goal.LATENCY,), Workload(model="Qwen/Qwen3-32B", weights=Format.INT4, accelerator="L40S"), "At least 19.6 ms a token, 51.1 tokens a second, with Qwen3-32B in int4 on one L40S, a bound and no measurement"),
        ((Goal.TOKEN_COST,), Workload(model="meta-llama/Meta-Llama-3.1-70B", instance_type="p5.48xlarge", tokens_per_second=900), "$16.99 for a million tokens at 900 tokens a second"),
        ((Goal.TOKEN_COST,), Workload(instance_type="p5.48xlarge", tokens_per_second=12_000), "$1.27 for a million tokens at 12,000 tokens a second, $55.04 an hour"),
        ((Goal.TOKEN_COST,), Workload(instance_type="g6.xlarge", tokens_per_second=600, load=0.5), "$0.745 for a million tokens at 600 tokens a second for 50 % of the time"),
        ((Goal.COST,), Workload(instance_type="g6e.2xlarge", tokens_per_second=2500, tokens=2e9), "$498 for 2 billion tokens at 2,500 tokens a second"),
        ((Goal.AFFORDABLE,), Workload(instance_type="p5.48xlarge", budget_per_month=100_000, hours=730), "2 × p5.48xlarge: each costs $55.04 an hour, $40,200 a month"),
        ((Goal.AFFORDABLE,), Workload(instance_type="p5.48xlarge", budget=10_000), "$10,000 pays for 182 hours (7.57 days) of p5.48xlarge"),
        ((Goal.AFFORDABLE,), Workload(instance_type="g5.2xlarge", budget=60_000, hours=2000), "24 × g5.2xlarge: each costs $2,420 for 2,000 hours"),
        ((Goal.COST,), Workload(instance_type="p5.48xlarge", accelerators=64, hours=240), "$106,000 for 240 hours, 10 days, $440 an hour for 8 × p5.48xlarge"),
        ((Goal.COUNT,), Workload(model="meta-llama/Meta-Llama-3.1-70B", vendors=frozenset({"NVIDIA"})), "2 × RTX PRO Server 6000: use g7e.12xlarge (2 × RTX PRO Server 6000), $8.29 an hour"),
        ((Goal.AFFORDABLE,), Workload(model="meta-llama/Meta-Llama-3.1-8B", budget_per_month=3000), "5 × inf2.xlarge: each costs $0.758 an hour, $553 a month"),
        ((Goal.ENERGY,), Workload(accelerator="H200", accelerators=8, hours=168, load=0.6), "597 kWh for 168 hours, 7 days: 8 × H200 (141 GB) draw 3,550 W at 60 % load"),
        ((Goal.WATER,), Workload(accelerator="H100", accelerators=8, hours=60, region="us-west-2"), "53.8 litres of water in us-west-2: 336 kWh × 0.16 litres"),
        ((Goal.WATER,), Workload(model="meta-llama/Meta-Llama-3.1-8B", instance_type="g6.xlarge", hours=8760, region="us-east-2"), "38.7 litres of water for a year for g6.xlarge in us-east-2"),
        ((Goal.CARBON,), Workload(accelerator="H100", accelerators=100, hours=1, region="eu-west-1"), "19.9 kg of CO2e in Europe (Ireland) (eu-west-1), with a PUE of 1.11: 70 kWh"),
        ((Goal.CARBON,), Workload(instance_type="p5.48xlarge", tokens_per_second=8000, region="eu-west-1"), "33.4 g of CO2e for a million tokens at 8,000 tokens a second"),
    ],
)  # fmt: skip
def test_the_figure_that_is_asked_for_leads(bot: Chatbot, goals: tuple[Goal, ...], work: Workload, opening: str) -> None:
    draft = draft_of(Asked(work, goals), Working(load(bot.index), bot.index, ["how much"]))
    assert draft.text.startswith(opening), draft.text


def test_differences_are_said_first(bot: Chatbot) -> None:
    tables, g5 = load(bot.index), Workload(instance_type="g5.12xlarge", hours=730)
    for goals, others, opening in (
        ((Goal.DIFFERENCE,), replace(g5, instance_type="g6e.12xlarge"), "g6e.12xlarge costs $3,520 more for a month of 730 hours than g5.12xlarge"),
        ((Goal.ENERGY, Goal.DIFFERENCE), replace(g5, instance_type="g6.12xlarge"), "g6.12xlarge takes 139 kWh less for a month of 730 hours than g5.12xlarge"),
        ((Goal.CARBON, Goal.DIFFERENCE), replace(g5, region="eu-north-1"), "118 kg of CO2e less for a month of 730 hours for g5.12xlarge in eu-north-1 than in us-east-1 "),
    ):
        assert draft_of(Asked(g5, goals, others=(others,)), Working(tables, bot.index, [""])).text.startswith(opening)
    families = Workload(families=frozenset({"p4d", "p5"}), hours=100)
    assert draft_of(Asked(families, (Goal.DIFFERENCE,)), Working(tables, bot.index, [""])).text.startswith("p5.48xlarge costs $3,310 more for 100 hours than p4d.24xlarge")
    llama = Workload(model="meta-llama/Meta-Llama-3.1-8B", instance_type="g5.xlarge", hours=100)
    served = Asked(llama, (Goal.DIFFERENCE,), others=(replace(llama, instance_type="g6.xlarge"),))
    assert draft_of(served, Working(tables, bot.index, [""])).text.startswith("g5.xlarge costs $20.12 more for 100 hours than g6.xlarge")
    moved = Workload(kwh=1000, region="ap-southeast-3")
    asked = Asked(moved, (Goal.CARBON, Goal.DIFFERENCE), others=(replace(moved, region="eu-central-2"),))
    assert draft_of(asked, Working(tables, bot.index, ["ignore the pue"])).text.startswith("641 kg of CO2e less in eu-central-2 than in ap-southeast-3")


@pytest.mark.parametrize(
    ("turns", "begins"),
    [
        (("What does an H100 cost?", "How many Trainium chips are in a trn1.32xlarge?"), "trn1.32xlarge has 16 AWS Trainium chips [1]."),
        (("what does a g5.xlarge cost", "does the g6 have FP8?"), "Yes, the L4 supports FP8"),
        (("how many H100 for a 70B in bf16?", "how many L40S?"), "At least 4 × L40S: a 70B model in bf16 needs 143 GB"),
    ],
)
def test_a_later_question_that_is_complete_is_not_the_earlier_one_on_other_hardware(bot: Chatbot, turns: tuple[str, ...], begins: str) -> None:
    assert ask(bot, *turns).text.startswith(begins)
