"""Quantities with units: how turns are read, and the product or quotient that answers a question, checked by hand."""

import pytest

from chatbot import Answer, Chatbot, Turn
from chatbot.figures.figures_answer import answer_by_figures
from chatbot.question.query import understand
from chatbot.sizing.dimensions import read


def ask(bot: Chatbot, *turns: str) -> Answer:
    history: list[Turn] = []
    for question in turns:
        answer = bot.ask(question, history)
        history.append(Turn(question, answer.text))
    return answer


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("2,900 tok/s per gpu", [("2900 × 3600", {"#token": 1, "h": -1, "gpu": -1})]),
        ("3.2m tickets, 650 output tokens each", [("3200000", {"#ticket": 1}), ("650", {"#token": 1, "#ticket": -1})]),
        ("48,000 sequences, 95 s each", [("48000", {"#sequence": 1}), ("95 / 3600", {"h": 1, "#sequence": -1, "worker": 1})]),
        ("20 tb at $0.06 per gb-month", [("20 × 1000", {"GB": 1}), ("0.06 / 730", {"usd": 1, "GB": -1, "h": -1})]),
        ("80 gib at 10 gb/s, then 2 tib", [("80 × 1.073741824", {"GB": 1}), ("10 × 3600", {"GB": 1, "h": -1}), ("2 × 1024 × 1.073741824", {"GB": 1})]),
        ("500 gib at $0.08 per gib-month", [("500", {"GB": 1}), ("0.08 / 730", {"usd": 1, "GB": -1, "h": -1})]),
        ("29 cents per kwh", [("29 / 100", {"usd": 1, "kWh": -1})]),
        ("one 8-gpu node at 520 w per gpu, 2 kw for the rest", [("8", {"gpu": 1, "machine": -1}), ("520 / 1000", {"kWh": 1, "h": -1, "gpu": -1}), ("2", {"kWh": 1, "h": -1})]),
        ("16 h100s at 2.10 a piece per hour", [("16", {"gpu": 1}), ("2.1", {"usd": 1, "h": -1, "worker": -1})]),
        ("a g4dn at 12x real time, 5000 hours of calls", [("12", {"audio": 1, "h": -1, "worker": -1}), ("5000", {"audio": 1})]),
        ("80 layers, 8 kv heads, head dim 128, fp8", [("2 × 80 × 8 × 128 × 1 / 1e9", {"GB": 1, "#token": -1})]),
        ("an a100, a 4090 and a g5.xlarge from 20:00", []),
    ],
)  # fmt: skip
def test_a_number_takes_the_unit_behind_it(text: str, quantities: list[tuple[str, dict[str, int]]]) -> None:
    assert [(q.text, dict(q.dimensions)) for q in read(text, 0).quantities] == quantities


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        # A quantity in another unit
        (["How many GiB is 80 GB?"], "74.5058 GiB: 80 / 1.073741824 [1]."),
        (["convert 1.5 TiB to GB"], "1,649.27 GB: 1.5 × 1024 × 1.073741824 [1]."),
        (["What is 3200 Gbps in GB/s?"], "400 GB/s: 3200 / 8 × 3600 / 3600 [1]."),
        # 80 × 2^30 bytes
        (["How long does it take to load 80 GiB at 10 GB/s?"], "8.59 seconds: 80 × 1.073741824 / (10 × 3600) × 3600 [1]."),
        # 3.2e6 × 650 / 2,900 s / 8
        (["3.2M support tickets to rewrite, 650 output tokens each on average, vLLM gives us 2,900 tok/s per GPU. days with 8 GPUs?"], "1.04 days: 3200000 × 650 / (2900 × 3600) / 8 / 24 [1]."),
        (["whisper at 12x realtime on one box, a backlog of 5000 hours of calls", "how long with 6 of them and what's that in $ at 0.526/h?"], "2.89 days: 5000 / 12 / 6 / 24; $219: 5000 × 0.526 / 12 [1]."),
        # (8 × 700 W × 0.6 + 1.9 kW) × 1.3 × 504 h
        (["8 H100s at 700 W running at 60% on average, plus 1.9 kW constant for the rest of the server. PUE 1.3. 21 days. How many kWh?"], "3,450 kWh: (8 × 700 / 1000 × 0.6 + 1.9) × 1.3 × 21 × 24 [1]."),
        (["4 x g6.xlarge running 24/7 all year. L4 TDP is 72 W, say 60% average draw and PUE 1.15. How many kWh?"], "1,740 kWh: 1.15 × 8760 × 4 × 72 / 1000 × 0.6 [1]."),
        # 400 W from the data sheet
        (["We ran 64 A100 SXM for 11 days at full TDP, PUE 1.18. How many MWh?"], "7.97 MWh: 1.18 × 64 × 11 × 24 × 400 / 1000 / 1000 [1], at the 400 W of its data sheet [2]."),
        (["2 GPUs at 300 W for 6 days, PUE of 1.2. How many kWh?", "and the CO2 in Paris (56 g/kWh) and in Dublin (290 g/kWh)?"], "5.81 kg of CO2e at 56: 1.2 × 2 × 300 / 1000 × 6 × 24 × 56 / 1000; 30.1 kg of CO2e at 290: 1.2 × 2 × 300 / 1000 × 6 × 24 × 290 / 1000; 24.3 kg of CO2e, 80.7 % less [1]."),
        # 32 × 0.65 kW × 96 h × 1.2 × (290 - 56) g
        (["Training run of 32 GPUs at 650 W each for 96 h, PUE 1.2. Energy?", "And CO2 in Dublin, 290 g/kWh", "how many kg do I save if I do it in Paris instead (56)?"], "695 kg of CO2e at 290: 1.2 × 32 × 650 / 1000 × 96 × 290 / 1000; 134 kg of CO2e at 56: 1.2 × 32 × 650 / 1000 × 96 × 56 / 1000; 561 kg of CO2e, 80.7 % less [1]."),
        # (3,200 × 0.60 + 450 × 2.40) / 1e6; × 18,000 × 30
        (["provider charges $0.60 per M input, $2.40 per M output. A chat of ours is 3,200 in and 450 out, 18k chats a day. cost per chat, and per 30 days?"], "$0.003: (0.6 / 1e6 × 3200 + 2.4 / 1e6 × 450); $1,620: (0.6 / 1e6 × 3200 + 2.4 / 1e6 × 450) × 18000 / 24 × 30 × 24 [1]."),
        # (24,000 / 35,040 + 1.6 × 0.22) an hour
        (["Bought a server for €24,000, writing it off over 4 years of 365 days. It draws 1.6 kW on average and power is 0.22 per kWh.", "it gets through about 110,000 documents a day. all in, how many cents per thousand docs?"], "22.6 cents: (24000 / (4 × 8760) + 1.6 × 0.22) / (110000 / 24) × 1000 × 100 [1]."),
        # 10 hours a night
        (["48,000 sequences, 95 s each on an A100. We only get the node (8 A100s) at night, 20:00 to 06:00. How many nights?"], "16: 48000 × 95 / 3600 / 8 / (10 / 24) / 24 = 15.8, rounded up [1]."),
        # 2e6 × 0.4 / 3,600 = 222 hours
        (["2 million pages at 0.4 s per page on an L4 that costs 0.80/h. what does it cost, and how long with 5 cards?"], "$178: 2000000 × 0.4 / 3600 × 0.8; 44.4 hours: 2000000 × 0.4 / 3600 / 5 [1]."),
        (["5,000 users, each sends 20 messages a day of 300 tokens. how many tokens a second on average?"], "347 tokens a second: 5000 × 20 / 24 × 300 / 3600 [1]."),
        (["An epoch takes 3 h 20 min on 4 GPUs at $2.10 per GPU hour. 12 epochs?", "what does that cost?"], "$336: 12 × 3.333333333 × 4 × 2.1 [1]."),
        # 20 × 0.35 / 0.8
        (["our model needs 350 ms on a T4 per image and we get 20 images per second at peak. how many T4s at 80% max utilization?"], "9: 350 / 3.6e6 × 20 × 3600 / 0.8 = 8.75, rounded up [1]."),
        (["500 GB of logs a day, we keep them 90 days, 2.3 cents per GB-month. monthly storage bill?"], "$1,030 a month: 500 / 24 × 90 × 24 × 2.3 / 100 / 730 × 730 [1]."),
        (["70b awq cheapest box?", "48gb card you mean? how tight", "ok and 30 ppl w 16k prompts at once? llama 3 so 80 layers 8 kv heads 128 dim, fp16 kv"], "161 GB of KV cache: 2 × 80 × 8 × 128 × 2 / 1e9 × 30 × 16384 [1]."),
        # 8 × 1.35 × 0.59 × 2,160 = 13,764
        (["We committed to 8 A100s for a year at $1.35 per GPU-hour, and our dashboard says 41% average utilisation over the last 90 days. How much did we burn on idle cards in those 90 days?"], "$13,800: 8 × 1.35 × (1 - 0.41) × 90 × 24 [1]."),
        (["training takes us 340 hours on 16 nodes at $21.50 per node hour, and we rerun 15% of it because of failures. total?"], "$135,000: 340 × 16 × 21.5 × (1 + 0.15) [1]."),
        # 2.8 / (900 × 3,600 × 0.4 × 0.9)
        (["endpoint costs $2.80/h, 900 tok/s, busy 40% of the time and 10% of requests fail and are retried. cost per million useful tokens?"], "$2.40: 2.8 / (900 × 3600 × 0.4) / (1 - 0.1) × 1e6 [1]."),
        (["data loader pulls 18 TB a day from another AZ at $0.01/GB each way. Monthly, 30 days?"], "$10,800: 18 × 1000 / 24 × 0.01 × 2 × 30 × 24 [1]."),
        # the machine 45 of 168 hours a week, the disk all the time
        (["Got 5,000 USD of credits. A g5.xlarge is 1.006/h. How long if I leave it on?", "only weekdays 9 to 18 then. plus I keep a 200 GB gp3 at 8 cents per GB-month the whole time. how many weeks do the credits last?"], "102 weeks: (5000 / (1.006 × 195.5357143 / 730 + 200 × 8 / 100 / 730)) / 168 [1]."),
        # 489.60 - 489.60 × 0.35 × 1.15
        (["Job needs 40 hours. On demand box is 12.24/h. Spot is 65% off but we redo about 15% of the work after interruptions. What do we really save?"], "$293, 59.8 %: $197 instead of $490; 40 × 12.24 × (1 - 0.65) × (1 + 0.15); 40 × 12.24 [1]."),
        (["Each node has to pull 3.2 TB from S3. NIC is 25 Gbit, 80% real. How many minutes?"], "21.3 minutes: 3.2 × 1000 / (25 / 8 × 3600 × 0.8) × 60 [1]."),
        (["KV cache: 64 layers, 8 kv heads, head dim 128, fp16. what does it cost me per token, and for 16 users at 8k each?"], "256 KiB a token: 2 × 64 × 8 × 128 × 2 / 1e9 × 1e9 / 1024; 34.4 GB of KV cache: 2 × 64 × 8 × 128 × 2 / 1e9 × 16 × 8192 [1]."),
        # 120 × 0.35 / 0.7
        (["Peak is 120 requests a second, each keeps a GPU busy for 0.35 s, and I don't want any card more than 70% busy. How many GPUs?"], "60: 120 × 3600 × 0.35 / 3600 / 0.7 = 60, rounded up [1]."),
        # 3,500 / 40 / 6 = 14.6
        (["At peak 3,500 pupils online, each sends a prompt every 40 seconds. One replica handles 6 requests/s. How many replicas, plus one spare?"], "16: 3500 / (40 / 3600) / (6 × 3600) = 14.6, rounded up and one to spare [1]."),
        (["the 8 gpu node costs us 18.40 an hour", "it pushes 21k tok/s at full load but averaged over the day we're at 35% of that", "cost per M tokens at full load and at real load?"], "$0.243 at full load: 18.4 / (21000 × 3600) × 1e6; $0.695 as it is used: 18.4 / (21000 × 3600 × 0.35) × 1e6 [1]."),
        (["1.8M requests a month, around 0.9 Wh each", "PUE 1.25", "grid is 412 g", "so per year in tonnes?"], "10 tonnes of CO2e a year: 1800000 / 730 × 0.9 / 1000 × 1.25 × 412 / 1e6 × 8760 [1]."),
        (["I have a nightly job that takes 5h20 on a g4dn.xlarge", "its three of those now, each on its own machine, every night", "at 0.526/h what's that for a 30 day month?", "and on spot with 64% off?"], "$90.89: 3 × 0.526 × (1 - 0.64) × 5.333333333 / 24 × 30 × 24 [1]."),
        (["16 H100s at 2.10 a piece per hour, for 6 weeks non stop", "finance got us 12% off the compute", "plus 20 TB storage at $0.06 per GB-month for 1.5 months. total?"], "$31,600: (16 × 2.1 × (1 - 0.12) × 6 × 168 + 20 × 1000 × 0.06 / 730 × 1.5 × 730) [1]."),
        (["finetuning at 0.84 s per step, batch 16, 52k examples, 3 epochs: how many hours?"], "2.27 hours: 3 × 0.84 / 3600 × 52000 / 16 [1]."),
        (["Una 4090 a 320 W, más unos 140 W del resto del PC. Entreno unas 6 horas al día. ¿Cuánto pago de luz al mes (30 días) a 0,19 €/kWh?"], "€15.73: (320 / 1000 × 6 / 24 + 140 / 1000 × 6 / 24) × 30 × 24 × 0.19 [1]."),
        # 45 × 1.2 / 0.65
        (["gpus for 45 rps, 1.2 s each, max 65% busy?"], "84: 45 × 3600 × 1.2 / 3600 / 0.65 = 83.1, rounded up [1]."),
        (["app gets 9 million requests a day, the peak hour runs at 2.5x the average", "each takes 180 ms of gpu time, I don't want more than 75% utilisation at peak. how many gpus?"], "63: 2.5 × 9000000 / 24 × 180 / 3.6e6 / 0.75 = 62.5, rounded up [1]."),
        (["UPS question: 6 nodes, 5.8 kW each at full tilt", "ups has 30 kWh usable", "how many minutes at 85% load?"], "60.9 minutes: 30 / 6 / (5.8 × 0.85) × 60 [1]."),
        (["two 3090 at 280w each plus 180 for the rest of the pc, ten days non stop, 0.36 per kwh. what does he pay"], "$63.94: (2 × 280 / 1000 + 180 / 1000) × 10 × 24 × 0.36 [1]."),
        (["the paper says pretraining took 1.1 GWh, before PUE", "pue 1.12 and 57 g/kWh where they did it", "tonnes?", "what if they'd done it in a region with 440 g and pue 1.2"], "581 tonnes of CO2e: 1.1 × 1e6 × 1.2 × 440 / 1e6 [1]."),
        (["7,400 GPU-hours on H100 SXM, assume 60 % of TDP, add 25% for the host, PUE 1.15, 344 g/kWh. How many kg CO2e?"], "1,540 kg of CO2e: (1.15 × 7400 × 344 × 700 / 1000 × 0.6 × (1 + 0.25)) / 1000 [1], at the 700 W of its data sheet [2]."),
        (["64 H100s for 9 days at 700 W, drawing 75% of that, the servers add 40%, PUE 1.15. How much CO2 at 350 g/kWh?"], "4,090 kg of CO2e: (1.15 × 64 × 9 × 24 × 700 / 1000 × 0.75 × 350 × (1 + 0.4)) / 1000 [1]."),
        (["Preciso legendar 5.300 horas de vídeo. O modelo roda a 22x tempo real numa GPU. Com 2 GPUs dá quantos dias?"], "5.02 days: 5300 / 22 / 2 / 24 [1]."),
        # 0.4 s at $0.99 an hour, 30 % utilization
        (["we remove backgrounds from product photos, 0.4 s of GPU each on an L40S at 0.99 $/h, but the card is only busy 30 % of the time. whats my real cost per image in cents, or per thousand?"], "0.0367 cents: 0.4 / 3600 × 0.99 / 0.3 × 100 [1]."),
        # 1,200 kW × 0.75 × 8,760 h × PUE × g
        (["Comparing two sites for a 1.2 MW cluster (IT load) that will average 75%: Norway with PUE 1.08 and 28 g/kWh, Poland with PUE 1.4 and 660 g/kWh. Tonnes of CO2 a year in each?"], "238 tonnes of CO2e a year at 28: 1.08 × 1.2 × 1000 × 0.75 × 28 / 1e6 × 8760; 7,280 tonnes of CO2e a year at 660: 1.4 × 1.2 × 1000 × 0.75 × 660 / 1e6 × 8760; 7,050 tonnes of CO2e a year, 96.7 % less [1]."),
        (["transcribing podcasts on an L4 at $0.71/h, it does 38x real time", "what does an hour of audio cost me?", "and 15,000 episodes of 52 min?"], "$243: 0.71 × 15000 × 52 / 60 / 38 [1]."),
    ],
)  # fmt: skip
def test_units_lead_to_what_is_asked(bot: Chatbot, turns: list[str], text: str) -> None:
    answer = ask(bot, *turns)
    assert (answer.text, answer.dropped, answer.refused) == (text, 0, False)


@pytest.mark.parametrize(
    "question",
    [
        "12 inf2.xlarge in us-east-1, on demand, 24/7, $0.7582 each. Monthly cost with 730 hours?",
        "900k images at 1.7 s each on one GPU. 12 GPUs, though two of them are an older model and only half as fast. How long, in hours?",
        "48,000 sequences, 95 s each on an A100. We only get the node (8 A100s) at night. How many nights?",
        "Can a g5 savings plan of $12/h be returned within 7 days",
        "How much memory does Llama 3.1 8B need with 2 GiB?",
        "2.3 million requests per month from two g5.2xlarge at $1.212/h each. What does one request cost us, and the margin at $0.002 a call?",
        "A sweep of 144 configs, 38 min each, on 7 GPUs, one config on each. Done in how many hours? Count whole rounds",
        "avatar app: per customer 11 min training and 40 images at 2.6 s each. gpu is 1.10 per hour\nwhats my cost per customer?\nand 7,000 customers a month, with 15% of everything rerun?",
        "A is $1.89/h with no strings, B is $1.29/h but I pay every hour for twelve months. How many hours a month do I have to use a GPU before B wins?",
    ],
)
def test_what_has_two_readings_or_leaves_a_figure_out_is_not_computed(bot: Chatbot, question: str) -> None:
    *before, last = question.split("\n")
    assert answer_by_figures(understand(last, [Turn(turn, "") for turn in before], bot.index), bot.index) is None
