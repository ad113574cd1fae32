"""Questions with figures of their own: answers checked by hand, what is read, and what is left to other readers."""

import re

import pytest

from chatbot import Answer, Chatbot, Turn
from chatbot.figures.figures_answer import answer_by_figures
from chatbot.figures.sizing_answer import answer_by_sizing
from chatbot.question.query import understand
from chatbot.sizing.given import read_given, read_turns
from chatbot.working import load


def ask(bot: Chatbot, *turns: str) -> Answer:
    history: list[Turn] = []
    for question in turns:
        answer = bot.ask(question, history)
        history.append(Turn(question, answer.text))
    return answer


@pytest.mark.parametrize(
    ("turns", "opening"),
    [
        # 1 - 0.37 = 0.63; 0.63 × 24 = 15.12; 0.63 × 730 = 459.9
        (["1-yr savings plan gives 37% off vs on demand. how many hours per day must it run that it pays off"], r"From 63 % of the hours on, 15\.1 hours a day or 460 hours a month of 730, at your 37 % off \[1\]\."),
        (["1-yr commit gives me 37% off. how many hours per week must the box run so that it pays?"], r"From 63 % of the hours on, 106 hours a week or 460"),
        (["Checkpoint is 112 GB, written every 30 min at 3.5 GB/s, and the spot box dies on average every 9 hours. is 30 min the right interval?"], r"112 GB for a checkpoint; 32 s [^;]*; 1\.78 % [^;]*; 24 minutes between two lose least where it fails every 9 hours"),
        (["4.60 an hour for the box, 2,400 tok/s, busy 35% of the time. at which api price per million tokens is self hosting dumb?"], r"\$1\.52 for a million tokens"),
        (["1 yr savings plan gives us 37% off the on demand price, 3 yr gives 56%. at what utilization do they break even?"], r"From 63 % [^\n]*\nFrom 44 % of the hours on"),
        # 0.76 / 1.21 = 0.628
        (["box costs 1.21/h on demand. savings plan 1yr is 0.76/h. how many hours a day must it run so the plan wins"], r"From 62\.8 % of the hours on, 15\.1 hours a day"),
        # 33.2 / 55.04 = 0.6032; (33.2 - 0.45 × 55.04) × 8,760 = 73,864
        (["A 1-year reservation of an 8-GPU box. On demand it's $55.04/h.", "The reservation comes out at $33.20/h.", "From what share of hours does that make sense? And at only 45% of the time, how much worse off are we over the year?"], r"On demand costs less, by \$73,900 a year, 25\.4 %: 33\.2 × 8760 = \$291,000 for the commitment; 55\.04 × 3942 = \$217,000 for on demand \[1\]\.\nIt runs 45 % of the hours; the commitment pays from 60\.3 %"),
        # 1 - 0.6 / 0.73 = 0.178
        (["What's break-even on a 3yr commit that's 45% off on demand?", "same for the 1yr at 27%?", "The box is on for 60% of hours in the first year. Take the 1yr or stay OD, and how much is the wrong choice worse?"], r"On demand costs 17\.8 % less \[1\]\.\nIt runs 60 % of the hours; the commitment pays from 73 %"),
        # 19.2 / 32.77 = 0.5859; 19.2 / 21.957642 = 0.8744
        (["p4d on demand is 32.77/h in our spreadsheet. 1 yr reserved is about 19.2/h. break even in hours per month?"], r"From 58\.6 % [^\n]* 428 hours a month [^\n]*\nAgainst today's \$21\.96 an hour of p4d\.24xlarge \(on demand, [^)]*\) it would be 87\.4 %, 638 hours a month \[2\]"),
        (["Our on-demand rate is $3.06, with the 1 year reserved we pay $1.93. Does it pay off if it runs 10 hours a day?"], r"On demand costs less, by \$478 a month, 33\.9 %: [^\n]*\nIt runs 42 % of the hours; the commitment pays from 63\.1 % of the hours on"),
        # 13.98 / 21.5 = 0.6502; × 730 = 474.7
        (["Nos sale a 13,98 $/h con el SP frente a 21,50 on-demand. ¿A partir de cuántas horas de uso al mes empieza a compensar?"], r"From 65 % of the hours on, 15\.6 hours a day or 475 hours a month of 730"),
        # 3.57 / 5.672 = 0.6294; 1 - 0.55 / 0.6294 = 0.126
        (["The 1 year plan is 3.57 an hour against 5.672 on demand.", "We are busy 55 % of the time: are we saving anything?"], r"On demand costs less, by \$329 a month, 12\.6 %: [^\n]*\nIt runs 55 % of the hours; the commitment pays from 62\.9 %"),
        # 9 / 24 = 0.375; 1 - 0.375 / 0.6 = 0.375
        (["Wir zahlen reserviert 1,35 $/h statt 2,25 $/h on-demand, die Kiste läuft aber nur 9 Stunden am Tag. Sparen wir damit?"], r"On demand costs less, by \$370 a month, 37\.5 %: [^\n]*\nIt runs 38 % of the hours; the commitment pays from 60 %"),
        # 5 × 12 = 60 of 168 hours
        (["how much does g5.xlarge cost per month 24/7", "we only need it mon-fri 8 to 20", "and with a 1yr savings plan for the 24/7 case, is that cheaper than the office hours one?"], r"Hardly: it runs 60 of 168 hours a week, 35\.7 %, .* more than 64\.3 % off"),
        # (21.957642 - 8) × 730 = 10,189; 13.957642 / 21.957642 = 0.6357
        (["My Spot price is $8 an hour for p4d.24xlarge; how much do I save per month against on demand?"], r"Your price is less, by \$10,200, 63\.6 %: 8 × 730 hours = \$5,840 for your price; 21\.957642 × 730 hours"),
        # 4 × (55.04 - 30) × 8,760 = 877,402
        (["We pay $30 an hour for each of 4 p5.48xlarge. How much do we save per year against list price?"], r"Your price is less, by \$877,000, 45\.5 %: 4 × 30 × 8760 hours"),
        (["We pay $60 an hour for p5.48xlarge, how much more is that than on demand?"], r"The price on demand is less, by \$4\.96, 8\.27 %: "),
        # 700 W × 720 h = 504 kWh; × 0.20 = 100.8
        (["What does 700 W for 30 days at 0.20 EUR/kWh cost?"], r"€101: "),
        (["What do 3 machines at 2 euros an hour cost for 40 hours?"], r"€240: "),
        # 5.67 / (1,100 × 3,600 × 0.2) = 7.16e-6
        (["An endpoint costs us $5.67 an hour and does about 1,100 output tokens/s when busy, but it's only busy like 20% of the day. What is our price per million tokens?"], r"\$7\.16 for a million tokens at your \$5\.67 an hour and 1,100 tokens a second, busy for 20 % of the time; \$1\.43 if it were always busy \[1\]"),
        (["our box is $2.10/h and gives 1,200 tok/s, busy 30% of the day, cost per million?", "and if it was busy 70%?"], r"\$0\.694 for a million tokens"),
        # 1.86 / (1,400 × 3,600 × 0.60) × 1e6 = 0.615
        (["we get 1400 tok/s out of a instance at $1.86/h. api vendor charges 0.60 per million output. at what utilization do we break even"], r"It costs as much as your \$0\.60 for a million tokens when it is busy for 61\.5 % of the time \[1\]\.\n\$0\.369"),
        # 4 × 8 × 520 W × 216 h = 3,594 kWh; × 1.15 × 0.34 kg = 1,405 kg
        (["Training ran 9 days on 4 nodes, 8 GPUs each, average 520 W per GPU. Grid 340 g/kWh. kgCO2? assume pue 1.15"], r"1,410 kg of CO2e: 3,590 kWh, 4,130 kWh with your PUE of 1\.15, at your 340 g a kWh \[1\]\. That is of the accelerators alone"),
        # (700 + 300) W × 310 h × 1.15 × 0.35 kg = 124.8 kg
        (["one gpu server 700W average for the gpu + 300W rest, ran 310 hours last month, pue 1.15, grid 0.35 kg/kWh. how much kgCO2?"], r"125 kg of CO2e: 310 kWh, 356 kWh with your PUE"),
        # (8 × 400 W × 0.8 + 1,000 W) × 36 h = 128.16 kWh; × 1.15 × 0.38 kg = 56.0 kg
        (["CO2 of one run: 1 node with 8 A100, 36 hours, GPUs at around 80% of 400 W, say another 1 kW for the rest of the server, PUE 1.15, grid factor 0.38 kg/kWh"], r"56 kg of CO2e: 128 kWh, 147 kWh with your PUE"),
        # 9,000 h × 400 W × 0.6 = 2,160 kWh; × 0.3 kg = 648 kg
        (["9,000 GPU hours at 60% of 400 W each, grid of 300 g/kWh: how much CO2?"], r"648 kg of CO2e: 9000 × 400 / 1000 × 0\.6 × 300 / 1000 \[1\]"),
        (["How do i compute the carbon of one training job", "8 x H100 for 72 hours at 700 W each, grid of 350 g/kWh"], r"141 kg of CO2e: 403 kWh, at your 350 g a kWh"),
        # (8 × 400 W × 0.85 + 1,200 W) × 264 h = 1,034.9 kWh; × 1.15 × 0.38 kg = 452.2 kg
        (["one p4d.24xlarge was busy for 11 days. 400 W per A100 at 85% average load, 1.2 kW for the rest of the host, PUE of 1.15: how many kWh, and how much CO2e at 380 g/kWh?"], r"452 kg of CO2e: 1,030 kWh, 1,190 kWh with your PUE"),
        # 20 × (72 W × 0.6 + 50 W) × 8,760 h = 16,329 kWh
        (["20 g6.xlarge around the clock: 72 W per L4 at 60% load plus 50 W for the rest of each server, how many kWh is that a year?"], r"16,300 kWh"),
        # 16 × 10.2 kW × 504 h × 1.15 × 0.35 kg
        (["16 GPU servers at 10.2 kW average draw, 21 days non stop, PUE 1.15, grid factor 0.35 kg CO2e per kWh. How many tonnes?"], r"33\.1 t of CO2e: 82,300 kWh"),
        (["A T4 box that just idles the whole year at 28 W, how many kWh is that and what does it cost me at 0,31 €/kWh"], r"€76\.04 for 245 kWh, at your €0\.31 a kWh"),
        # 4 × 1.2 kW × 730 h × $0.28
        (["electricity for 4 servers with 1.2 kW each, 24/7 for a month, at 0.28 $/kWh"], r"\$981 for 3,500 kWh, at your \$0\.28 a kWh"),
        # 13e9 × 14 bytes = 182 GB; × 24 = 4.368 TB; × $0.023 = $100.46
        (["13B params, we save weights + optimizer state every hour to S3 and keep the last 24 checkpoints. what do I pay a month at 0.023/GB"], r"182 GB for a checkpoint; 4\.37 TB for the 24 that are kept; \$100 a month at your \$0\.023 a GB \[1\]"),
        # 980 GB / 5 GB/s = 196 s, of 1,800 s 10.9 %
        (["checkpoint for a 70B with optimizer states, how long does writing it take if FSx does 5 GB/s? we checkpoint every 30 min, % of the time lost?"], r"980 GB for a checkpoint; 196 s to write it at your 5 GB/s; 10\.9 % of the time at one every 30 minutes"),
        (["I have 64 vCPUs of P quota. How many p4d.24xlarge can I start with that? And what quota would I need for four?"], r"A quota of 64 vCPUs starts no p4d\.24xlarge, which has 96 vCPUs \[1\]\[2\]\.\n4 × p4d\.24xlarge need a quota of 384 vCPUs: 4 × 96 \[2\]\[3\]\.$"),
        (["my quota is 0 vCPUs, how many p5.48xlarge can I start?"], r"A quota of 0 vCPUs starts no p5\.48xlarge, which has 192 vCPUs \[1\]\[2\]\.$"),
        (["how much vCPU quota do I need for 8 p5.48xlarge?"], r"8 × p5\.48xlarge need a quota of 1,536 vCPUs: 8 × 192 \[1\]\[2\]\.$"),
        # 12e6 / 86,400 × 3 × 150 / 2,000 = 31.25; 32 × 1.861 × 730 = 43,473
        (["12 million requests a day, each 600 input and 150 output tokens, peak is three times the average. One L40S sustains 2,000 output tokens per second on our 8B. How many g6e.xlarge at the peak, and the monthly bill?"], r"32 × g6e\.xlarge, for 62,500 tokens a second at 2,000 tokens a second from each \[1\]\[2\]\. \$43,500 for 730 hours"),
        # 45 × 250 / 1,500 × 1.3 = 9.75
        (["Peak is 45 req/s, avg prompt 1200 tokens, avg output 250 tokens. One replica tops out around 1500 output tok/s. how many replicas with N+1 and 30% headroom"], r"11 replicas: 10 with 30 % of headroom and one to spare, for 11,200 tokens a second"),
        # 85,000 GB × 8 / 10 / 0.75 / 3,600 s = 25.2 h; 500 GB × $0.09 = $45
        (["moving 85TB from onprem into s3 over a 10 gbit direct connect, realistically 75% of that. how long does it take"], r"25\.2 hours: 85 × 1000 / \(10 / 8 × 3600 × 0\.75\) \[1\]\."),
        (["500 GB out over 2.5 Gbit/s, how long, and the bill at 0.09/GB?"], r"26\.7 minutes: 500 / \(2\.5 / 8 × 3600\) × 60; \$45\.00: 500 × 0\.09"),
        # 12e6 / (3.5 × 3,600) / 0.9 = 1,058 h; / 72 = 14.7; × $0.75 = $794
        (["12 million photos to caption, we measured 3.5 images/s per L40S, budget is 3 days. how many gpus, and the bill if i pay 0.75 $/h each with 10% lost to interruptions"], r"15: 12000000 / \(3\.5 × 3600\) / \(3 × 24\) / \(1 - 0\.1\) = 14\.7, rounded up; \$794: "),
        # 900,000 × 700 / (9,000 × 3,600) = 19.4 h; × $0.80 = $15.56
        (["900k documents to embed, avg 700 tokens, at 9,000 tok/s. how long, and the cost at $0.80 an hour?", "and with 4 of them?"], r"4\.86 hours: 900000 × 700 / \(9000 × 3600\) / 4; \$15\.56: "),
        (["Peak 9000 tokens/s, each pod manages 1,250 tok/s. number of pods?"], r"8 replicas, for 9,000 tokens a second"),
        # 12 / 35: the larger figure is the capacity of one card
        (["we have 12 req/s now and one card does 35 req/s, how many cards?"], r"1 replica, for 12 requests a second at 35 requests a second from each"),
        (["how many replicas for 90 req/s if one does 16?", "and with 25% headroom?"], r"8 replicas with 25 % of headroom, for 90 requests"),
        # 9 × 14 / 22 = 5.7
        (["Peak is 9x the average. Average is 14 requests/s, one replica handles 22. How many replicas for the peak?"], r"6 replicas, for 126 requests a second at 22"),
        (["A single g6.xlarge serves 180 tokens/s. How many of them for 1,000 tokens/s?", "After the upgrade each one does 300."], r"4 × g6\.xlarge, for 1,000 tokens a second at 300 .*\$2,350 for 730 hours"),
        # 120e6 × 45 / (2,400 × 3,600) = 625; / 60 = 10.4
        (["120M descriptions of 45 tokens each, 2,400 tok/s per card, done in 60 hours: how many cards?"], r"11: 120000000 × 45 / \(2400 × 3600\) / 60 = 10\.4, rounded up"),
        (["batch of 2 billion tokens at 2,500 tokens/s, how many hours?"], r"222 hours: 2000000000 / \(2500 × 3600\)"),
        # 11 × 0.526 = 5.786; 4.6667 × 1.006 = 4.695
        (["is 11 hours at $0.526 cheaper than 4 h 40 min at $1.006?"], r"No, the second costs less, by \$1\.09: 0\.526 × 11 hours = \$5\.79 for the first; 1\.006 × 4\.66667 hours = \$4\.69 for the second \[1\]\."),
        (["3 endpoints with 2 instances each at 1.515 an hour, SageMaker vs 1.212 on EC2: difference a month?"], r"The second costs less, by \$1,330: 3 × 2 × 1\.515 × 730 hours = \$6,640 for the first; 3 × 2 × 1\.212"),
        (["p5 at 55.04/h finishes in 18 hours, p4d at 21.96/h in 50. which is cheaper and by how much?"], r"The first costs less, by \$107: "),
        (["10 spot boxes at 0.31/h for 14 hours or one big box at 4.10/h for 9 hours, which costs less?"], r"The second costs less, by \$6\.50: 10 × 0\.31 × 14 hours = \$43\.40 for the first; 4\.1 × 9 hours = \$36\.90"),
        (["10 spot boxes at 0.31/h for 14 hours or 4 on-demand boxes at 0.98/h for 9 hours, which costs less?"], r"The second costs less, by \$8\.12: 10 × 0\.31 × 14 hours = \$43\.40"),
        (["old setup: 6 nodes at $3.06/h around the clock. new: 4 nodes at $4.10/h. what do we save per month?"], r"The second costs less, by \$1,430: "),
        # (8 × 520 W + 2,000 W) × 264 h × 1.15 × 0.38 kg
        (["Trained for 11 days on one 8-GPU node: 520 W average per GPU, the rest of the server about 2 kW, PUE 1.15, grid 380 g CO2 per kWh. In kWh and kg?"], r"711 kg of CO2e: 1,630 kWh, 1,870 kWh with your PUE"),
        # 20 × 0.9 × 730; × 60 / 168
        (["Before: 20 boxes 24/7 at $0.90/h. After: 20 boxes during 12 h a day on weekdays only. cost per month before and after?"], r"\$4,690 a month instead of \$13,100, \$8,450 or 64\.3 % less: 60 of 168 hours a week"),
        (["is 20 hours at $0.90 cheaper than 6 hours at $3.20?", "and if the second takes 5 hours?"], r"No, the second costs less, by \$2\.00: 0\.9 × 20 hours = \$18\.00 for the first; 3\.2 × 5 hours"),
        (["our api bill is 2.1 billion tokens a month at $0.80 per million. a box for $3.10/h would do all of it. cheaper?"], r"The API costs less, by \$583 a month, 25\.8 %: "),
        (["a g6.xlarge does 350 tokens/s and a g6e.xlarge 900 tokens/s. Which is cheaper per token?"], r"g6e\.xlarge costs less, by \$0\.0643 for a million tokens: "),
        (["a run takes 6 h 15 min on 4 machines that cost $2.50 an hour each. what does one run cost?"], r"\$62\.50: 6\.25 × 4 × 2\.5 \[1\]\."),
        (["24 A100 for 11 days at $1.90 per gpu hour plus $450 for storage: what does the training cost?"], r"\$12,500: \(24 × 11 × 24 × 1\.9 \+ 450\)"),
        (["each of 45 developers uses a notebook at $0.53/h for 6 hours a day, 21 days a month. what do we pay?"], r"\$3,010: 45 × 0\.53 × 126 hours"),
        (["we have $4,000. boxes are $1.80 an hour. how many hours can we run 5 of them?"], r"444 hours: 4000 / 1\.8 / 5"),
        # 25,000 / 1.86 = 13,441; / 730 = 18.4; / (50 × 730 / 168) = 61.9
        (["We have $25k of credits at $1.86 an hour: how many months around the clock, and at 50 hours a week?"], r"61\.9 months: 25000 / \(1\.86 × 50 / 168\) / 730 \[1\]\."),
        # 3,000 / 0.8 = 3,750; / 365
        (["Tenemos 3.000 dólares de presupuesto y la instancia cuesta 0,80 $ por hora. ¿Cuántos meses dura si está encendida 12 horas al día?"], r"10\.3 months: 3000 / \(0\.8 × 12 / 24\) / 730"),
        # (4 × 0.63 + 2 × 0.4) × 1.006 × 730 = 2,438
        (["We run six g5.xlarge around the clock at $1.006 an hour. What's that per month?", "and if four of them go on a 1-year commitment at 37% off while the other two become spot at 60% off?"], r"\$2,440 a month, 44\.7 % less than the \$4,410 of all 6 at your \$1\.006 an hour \[1\]\.\n\(4 × 1\.006 × \(1 - 0\.37\) \+ 2 × 1\.006 × \(1 - 0\.6\)\) × 730 hours"),
        # (5 × 0.7 + 4) × 2 × 8,760 = 131,400
        (["Our fleet is 16 g6.xlarge. 10 are covered by a savings plan with 30% discount. What does the fleet cost per month?"], r"\$7,640 a month, 18\.8 % less"),
        (["3 p5.48xlarge: two with a 1-year savings plan at 25% off, one on demand. cost per year?"], r"\$1,210,000 a year, 16\.7 % less"),
        (["30% off on 5 of our 9 machines, at $2 an hour list, the rest at full price: what is that per year?"], r"\$131,000 a year, 16\.7 % less"),
        # (6 × 0.42 + 3) × 1.8 × 730 = 7,253
        (["We keep 9 nodes at $1.80 an hour. Spot for 6 of them at 58 % off, list price for the others. Per month?"], r"\$7,250 a month, 38\.7 % less"),
        # (3 × 1.2 + 5 × 1.9) × 730 = 9,563
        (["What would a fleet of 3 reserved boxes at $1.20/h and 5 on demand boxes at $1.90/h cost per month?"], r"\$9,560 a month \[1\]"),
        (["g5.xlarge answers 3 requests each second. Cost per thousand requests?"], r"\$0\.0931: 1\.006 / \(3 × 3600\) × 1000 \[1\], at \$1\.006 an hour on g5\.xlarge"),
        # 5 × 12 = 60 of 168 hours; 0.7582 × 730 × 60 / 168 = 197.7
        (["Combien coûte par mois un inf2.xlarge allumé en permanence, et combien si on l'éteint la nuit (20h-8h) et le week-end ?"], r"\$198 a month instead of \$553, \$356 or 64\.3 % less: 60 of 168 hours"),
        (["Was kostet ein g5.xlarge im Monat rund um die Uhr, und was wenn wir ihn nachts (20 bis 8 Uhr) und am Wochenende abschalten?"], r"\$262 a month instead of \$734, .*: 60 of 168 hours"),
        (["¿Cuánto cuesta al mes un g5.xlarge siempre encendido, y cuánto si lo apagamos de noche (20h-8h) y los fines de semana?"], r"\$262 a month instead of \$734, .*: 60 of 168 hours"),
        # 12 × 1.41 × 730 × 113 / 168 = 8,308
        (["We have 12 dev notebooks at approx $1.41 per hour, on all the time. If we stop them outside 8:00-19:00 and on weekends, what do we save per month?"], r"\$8,310 a month, 67\.3 %: they run 55 of 168 hours a week and cost \$4,040 instead of \$12,400"),
    ],
)  # fmt: skip
def test_figures_of_ones_own_are_computed_with(bot: Chatbot, turns: list[str], opening: str) -> None:
    answer = ask(bot, *turns)
    assert re.match(opening, answer.text), answer.text
    assert answer.dropped == 0
    assert not answer.refused


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        # (45e6 × 0.80 + 6e6 × 4) / 1e6 × 730 / 24 = 1,825; 2 × 10.49 × 730 = 15,315
        (
            ["we process 45 million input tokens and 6 million output tokens a day. api is $0.80 per M in and $4 per M out. alternative is 2x g6e.12xlarge on demand at roughly $10.49 an hour each. which one is cheaper per month and where's the break even"],
            "The API costs less, by $13,500 a month, 88.1 %: (45000000 / 24 × 0.8 / 1e6 + 6000000 / 24 × 4 / 1e6) × 730 = $1,820 for the API; 2 × 10.49 × 730 = $15,300 for self-hosting [1].\nBreak-even at 8.39 times that traffic, 378 million input tokens and 50.4 million output tokens a day, if the machines can do as much [1].",
        ),
        (
            ["200k requests a day, about 1,500 tokens each, API at $0.50 per million tokens. vs one p4d.24xlarge. what is cheaper per month?"],
            "The API costs less, by $11,500 a month, 71.5 %: 200000 / 24 × 1500 × 0.5 / 1e6 × 730 = $4,560 for the API; 21.957642 × 730 = $16,000 for self-hosting [1][2].\nBreak-even at 3.51 times that traffic, 703,000 requests a day, if the machines can do as much [1][2].",
        ),
        (
            ["Provider bills $1 per million input, $5 per million output. we do 10M in / 1M out per day. one box at 4.10 $/h would do. cheaper?", "and if traffic is 100M in / 10M out per day?", "and over a year?"],
            "Self-hosting costs less, by $18,800 a year, 34.4 %: (1 / 1e6 × 100000000 / 24 + 5 / 1e6 × 10000000 / 24) × 8760 = $54,800 for the API; 4.1 × 8760 = $35,900 for self-hosting [1].\nBreak-even at 0.656 times that traffic, 65.6 million input tokens and 6.56 million output tokens a day, if the machines can do as much [1].",
        ),
        # 32.77 × 0.4 × 120 × (1 + 35 / 300) = 1,756; 32.77 × 120 = 3,932
        (
            ["Spot is about 60% off $32.77, interrupted every 5 hours, each time we lose 25 minutes of work plus 10 to get going again. Job needs 120 hours of useful compute. Is spot still worth it and by how much?"],
            "Spot costs less, by $2,180, 55.3 %: 32.77 × (1 - 0.6) × 120 × (1 + (25 / 60 + 10 / 60) / 5) = $1,760 for Spot; 32.77 × 120 = $3,930 for on demand [1].\nSpot stops being cheaper when it is interrupted every 23.3 minutes or more often [1].",
        ),
        (
            ["p5.48xlarge spot 50% off, 8% lost to interruptions", "and with 20% lost?"],
            "Spot costs less, by $20.64 for each useful hour, 37.5 %: 55.04 × (1 - 0.5) / (1 - 0.2) = $34.40 for Spot; $55.04 for on demand [1][2].",
        ),
        (
            ["spot at 65% off but I lose 12% of work to interruptions. still cheaper? on demand is 21.96/h, job takes 300h"],
            "Spot costs less, by $3,970, 60.2 %: 21.96 × 300 × (1 - 0.65) / (1 - 0.12) = $2,620 for Spot; 21.96 × 300 = $6,590 for on demand [1].",
        ),
        (
            ["with spot at 60% off and 10% of the work lost to interruptions, what do we really save?"],
            "Spot still saves 55.6 %: (1 - (1 - 0.6) / (1 - 0.1)) × 100 = 55.6 % [1].",
        ),
        (
            ["spot price $12/h vs on-demand $32.77/h. interruptions every 3 hours, 30 min lost each. effective cost per useful hour?", "and if it is interrupted every hour?", "and with 4 of them?"],
            "Spot costs less, by $59.08 for each useful hour, 45.1 %: 4 × 12 × (1 + (30 / 60) / 1) = $72.00 for Spot; 4 × 32.77 = $131 for on demand [1].\nSpot stops being cheaper when it is interrupted every 17.3 minutes or more often [1].",
        ),
        # A checkpoint every 30 minutes loses 15 on average
        (
            ["Spot is 70% cheaper, we checkpoint every 30 minutes and are interrupted every 4 hours, 10 min to restart. How much do we really save?"],
            "Spot still saves 66.9 %: (1 - (1 - 0.7) × (1 + (0.5 / 2 + 10 / 60) / 4)) × 100 = 66.9 % [1].\nSpot stops being cheaper when it is interrupted every 10.7 minutes or more often [1].",
        ),
        # 5 × 60 × (1 + 0.75 / 2) = 412.50
        (
            ["spot at $5 vs $14 on demand per hour, interruption every 2 hours costing 45 min. Worth it for a 60-hour run?"],
            "Spot costs less, by $428, 50.9 %: 5 × 60 × (1 + (45 / 60) / 2) = $412 for Spot; 14 × 60 = $840 for on demand [1].\nSpot stops being cheaper when it is interrupted every 25 minutes or more often [1].",
        ),
        (
            ["at 40% off and 60% use, which is cheaper, by how much a month? it's $10 an hour on demand", "what if the discount is only 30%?", "and over a year?"],
            "On demand costs less, by $8,760 a year, 14.3 %: 10 × (1 - 0.3) × 8760 = $61,300 for the commitment; 10 × 5256 = $52,600 for on demand [1].\nIt runs 60 % of the hours; the commitment pays from 70 % of the hours on, 16.8 hours a day or 511 hours a month of 730, at your 30 % off [1].\n(1 - 0.3) × 100 = 70 %.",
        ),
        # 5 × 60 × 21.957642 = 6,587; 5 × 168 × 21.957642 × 0.65 = 11,989
        (
            ["p4d on demand is what now", "we use five of them, 60 hours a week each. cheaper to stay like that or 1yr savings plan at 35% off on all five"],
            "On demand costs less, by $5,400 a week, 45.1 %: 5 × 21.957642 × (1 - 0.35) × 168 = $12,000 for the commitment; 5 × 21.957642 × 60 = $6,590 for on demand [1][2].\nIt runs 36 % of the hours; the commitment pays from 65 % of the hours on, 109 hours a week or 474 hours a month of 730, at your 35 % off [1][2].\n(1 - 0.35) × 100 = 65 %.",
        ),
        # 31.46 × 336 = 10,571; 55.04 × 336 × 0.6 = 11,096; 10,571 / 55.04 = 192
        (
            ["Capacity block for p5.48xlarge: $31.46/hr for 14 days, on demand is $55.04/hr. we'd only use 60% of the hours. cheaper?"],
            "The block costs less, by $526, 4.74 %: 31.46 × 336 hours = $10,600 for the block; 55.04 × 336 × 0.6 hours = $11,100 for on demand [1].\nThe block pays from 192 hours of use on [1].",
        ),
        (
            ["capacity block 14 days at $31.46/hr, on demand $55.04/hr, we need 200 hours. which is cheaper?", "and if we need only 150 hours?"],
            "On demand costs less, by $2,310, 21.9 %: 31.46 × 336 hours = $10,600 for the block; 55.04 × 150 hours = $8,260 for on demand [1].\nThe block pays from 192 hours of use on [1].",
        ),
        (["rewrite costs 30k, saves 35% of 22k a month: payback?"], "After 3.9 months: 30000 / (22000 × 0.35), as it saves $7,700 a month [1]."),
        (["one-time cost of $12k, saves $1,500 a month. payback?", "and if it costs $20k?"], "After 13.3 months: 20000 / 1500, as it saves $1,500 a month [1]."),
        (["migration costs 15k, reduces bill from 12,000 to 9,000 a month. how many months to payback?"], "After 5 months: 15000 / (12000 - 9000), as it saves $3,000 a month [1]."),
        # 0.3 × 48 + 0.7 × 48 × 0.4 × 1.08 = 28.92
        (
            ["We spend $48k a month on p4d on demand for training. If 70% moves to spot at 60% off, and we redo about 8% of that work because of interruptions, what do we save per month"],
            "The new bill is less, by $19,100 a month, 39.8 %: 48000 × (1 - 0.7) + 48000 × 0.7 × (1 - 0.6) × (1 + 0.08) = $28,900 for the new bill; $48,000 for that of today [1].",
        ),
        # 3e6 × 500 × 2 × 110e6 / (0.3 × 70e12 × 86,400) = 0.182
        (
            ["3 million embeddings a day, ~500 tokens each, 110M param model, on one g5.xlarge. is one enough?"],
            "Yes: g5.xlarge would be busy for 18.2 % of the time, at 30 % of the peak of its A10G [1][2][3].\n3000000 × 500 tokens × 2 × 110000000 / (1 × 0.3 × 70e12 × 86400) × 100 = 18.2 %.",
        ),
        # 1.006 × 730 × 50 / 168 = 218.6
        (
            ["a g5.xlarge at $1.006/hr is there 24x7. If we only kept it up on weekdays 8 to 18, what would the bill drop to?", "and over a year?", "and with 3 of them?"],
            "$7,870 a year instead of $26,400, $18,600 or 70.2 % less: 50 of 168 hours a week, at your $1.006 an hour for each of 3 [1].\n3 × 1.006 × 8760 hours × (168 - 50) / 168 = $18,600.",
        ),
        # Off for 12 hours of 5 days and on 2 days: 60 of 168 hours are left
        (
            ["our dev cluster of 5 g5.2xlarge runs nonstop. Turning it off from 20:00 to 8:00 and on weekends saves how much per month?"],
            "$2,840 a month, 64.3 %: they run 60 of 168 hours a week and cost $1,580 instead of $4,420, at $1.212 an hour on g5.2xlarge (on demand, us-east-1, 2026-07-20) for each of 5 [1][2].\n5 × 1.212 × 730 hours × (168 - 60) / 168 = $2,840.",
        ),
        (["5 nodes at $3 an hour, 24/7. how much per month?", "over a year?", "with 30% off?"], "$92,000 a year: 5 × 3 × (1 - 0.3) × 8760 [1]."),
        (["one node does 1,000 samples/s, four do 3,300: efficiency?"], "82.5 % scaling efficiency: 4 are 3.3 times as fast as 1, 3300 / 1000 / (4 / 1) [1]."),
        (
            ["4 nodes take 10 hours and 8 nodes take 6 hours at $20 per node hour. which is cheaper and how efficient is the scaling?"],
            "83.3 % scaling efficiency: 8 are 1.67 times as fast as 4, 10 / 6 / (8 / 4) [1].\nThe 4 cost less, by $160, 16.7 %: 4 × 10 × 20 = $800 for the 4; 8 × 6 × 20 = $960 for the 8 [2].",
        ),
        # 30 × 8 / (32 × 0.85) = 8.82
        (
            ["8 GPUs take 30 hours; how long on 32 at 85% scaling efficiency and which is cheaper?", "and on 64 GPUs?"],
            "4.41 hours on 64: 30 × 8 / (64 × 0.85) [1].\nThe 8 take less, by 42.4 GPU hours, 15 %: 8 × 30 = 240 GPU hours for the 8; 64 × 4.411764706 = 282 GPU hours for the 64 [2].",
        ),
        (
            ["16 boxes for 9 days, 10 kW each including cooling, grid 380 g/kWh. energy and CO2 in tonnes?"],
            "13.1 t of CO2e: 34,600 kWh, at your 380 g a kWh [1].\n16 × 10000 W × 216 hours / 1000 = 34,600 kWh; 34560 kWh × 380 g = 13.1 t.",
        ),
        (["8 H100 nodes for 10 days, 6 kW each. energy?", "in MWh?"], "11.5 MWh [1].\n8 × 6000 W × 240 hours / 1000 = 11.5 MWh."),
    ],
)  # fmt: skip
def test_two_ways_of_paying_are_weighed(bot: Chatbot, turns: list[str], text: str) -> None:
    answer = ask(bot, *turns)
    assert (answer.text, answer.dropped) == (text, 0)


def test_the_working_comes_last_with_the_users_own_figures(bot: Chatbot) -> None:
    answer = ask(bot, "6 GPUs drew 410 W each for 72 hours. CO2 at 250 g/kWh with pue 1.2?")
    assert answer.text.splitlines()[-1] == "6 × 410 W × 72 hours / 1000 = 177 kWh; 177.12 kWh × 1.2 × 250 g = 53.1 kg."


@pytest.mark.parametrize(
    "question",
    [
        "From how many hours of use does a commitment pay off?",
        "What savings plan should I buy for 6 g5.2xlarge that run all day?",
        "why is my savings plan utilization only 60% although gpus run all day",
        "We pretrain a 70B from a Llama checkpoint on 16x p4d and the 400 Gbps is full. What do I put in the ticket?",
        "cost per million tokens for llama 3.1 70b on p5.48xlarge",
        "How much CO2 does serving Llama 70B on p4d.24xlarge for a week emit in Frankfurt?",
        "We draw 400 W or 250 W per GPU for 10 hours, which uses less energy?",
    ],
)
def test_what_gives_no_figures_for_a_formula_is_left_to_others(bot: Chatbot, question: str) -> None:
    assert answer_by_figures(understand(question, (), bot.index), bot.index) is None


@pytest.mark.parametrize(
    "question",
    [
        "how do i work out how many gpus i need for 15 req/s with 6k in 300 out on 8B",
        "a node does 8,500 tokens per second without a pause; how many per week?",
        "8 boxes at $2/h for 12 hours a day: 5 reserved at 30% off, 3 on demand. What is that a month?",
        "9 boxes at $2/h: 5 reserved at 30% off, 3 on demand. What is that a month?",
        "one replica does 0 req/s, how many replicas for 40 req/s?",
        "from 10 g6.xlarge to 3 every night from 10pm to 6am: saving per month?",
        "A costs $2/h, B costs $3/h and is 1.8 times faster. The job is 100 hours on A. which is cheaper?",
        "we pay 2,900 a month for 4 boxes and they are 30% utilised. what would 2 boxes cost?",
        "rewrite costs 30k and takes 3 months, saves 35% of 22k a month: payback?",
        "Spot saves 60%, interrupted 3 times a day, each costs 1 hour. is it worth it?",
        "4 nodes get 3,300 samples/s, one gets 1,000; 16 nodes get 11,000. how does it scale?",
        "Fine-tuning costs $5,000 once and cuts inference from $3,000 to $1,800 a month, but adds 10% of ops. payback?",
    ],
)
def test_a_figure_that_no_formula_takes_stops_the_sum(bot: Chatbot, question: str) -> None:
    assert answer_by_figures(understand(question, (), bot.index), bot.index) is None


@pytest.mark.parametrize(
    "question",
    [
        "our negotiated rate is 22 % under list; two p5.48xlarge for a fortnight then come to?",
        "can I fit a 34B at 4.5 bits per weight on a 24 GB card, and how much is left over?",
        "Full fine-tuning of a 3B with 8-bit Adam and no fp32 copy: does it fit in 48 GB?",
        "3 L40S at 0,95 €/h each: what is that for three years?",
    ],
)
def test_a_figure_that_a_sizing_does_not_take_stops_it(bot: Chatbot, question: str) -> None:
    assert answer_by_sizing(understand(question, (), bot.index), bot.index) is None


def test_what_a_model_needs_is_no_memory_of_a_card_and_moments_are_no_format_of_weights(bot: Chatbot) -> None:
    assert ask(bot, "so with 2.2 GB kv does a 13B in int4 go on my 12gb card?").text.startswith("Yes: a 13B model in int4 needs 8.05 GB, 6.7 GB of it for the weights; a GPU has 12 GB")
    tuned = ask(bot, "Full fine-tune of a 7.2B model: bf16 weights and grads, fp32 master copy plus the two fp32 Adam moments. How many GB is that before activations?")
    assert tuned.text.startswith("Full fine-tuning of a 7.2B model in bf16 needs 115 GB.")


def test_what_is_no_input_does_not_stop_the_sum(bot: Chatbot) -> None:
    assert ask(bot, "A 70B model in 2026: 3 replicas at $4.60 per hour each, answers under 2 seconds. what is that per month?").text.startswith("$10,100: 3 × 4.6 × 730 hours")


def test_a_bar_between_figures_ends_a_clause(bot: Chatbot) -> None:
    assert ask(bot, "specs: 2 GPUs | 300 W each, 10 hours. How many kWh?").text == "6 kWh [1].\n2 × 300 W × 10 hours / 1000 = 6 kWh."


@pytest.mark.parametrize(
    ("question", "figures"),
    [
        ("5.67 an hour, 1,100 output tokens/s, busy 20% of the day, API at $0.60 per million", {"price": 5.67, "pace": 1100, "busy": 0.2, "API price": 0.6}),
        ("grid 0.35 kg/kWh, pue of 1.15, 6.5 kW, $0.28 per kWh", {"grid": 350, "PUE": 1.15, "watts": 6500, "power price": 0.28}),
        ("keep the last 24, every 30 min, 420 GB at 3 GB/s, 0.023/GB", {"kept": 24, "interval": 0.5, "size": 420e9, "write rate": 3e9, "storage price": 0.023}),
        ("45 req/s with 250 output tokens, 30% headroom", {"requests": 45, "output": 250, "headroom": 0.3}),
        ("2,400 A100 hours, then 8 GPUs and 4 nodes", {"card hours": 2400, "cards": 8, "machines": 4}),
        ("a checkpoint of 140 GiB at 2 GiB/s", {"size": 140 * 2**30, "write rate": 2 * 2**30}),
        ("a checkpoint of 140 GiB at $0.08 per GB", {"size": 140e9, "storage price": 0.08}),
        ("37% off for 1 year reserved", {"discount": 0.37, "term": 1}),
        ("2 million requests, 9x as many", {"calls": 2e6, "times": 9}),
    ],
)
def test_each_figure_is_read_once_with_its_role(bot: Chatbot, question: str, figures: dict[str, float]) -> None:
    found = read_given(question, load(bot.index).known).figures
    assert {figure.role: figure.value for figure in found} == pytest.approx(figures)
    assert len(found) == len(figures)


def test_a_later_figure_stands_in_the_place_of_the_earlier_of_its_role(bot: Chatbot) -> None:
    given = read_turns(["$2 per hour and 900 tok/s, busy 30% of the day", "and busy 70%?"], load(bot.index).known)[-1]
    assert (given.one("price"), given.one("pace"), given.one("busy")) == (2, 900, 0.7)
    assert "busy" in given.new
    assert "pace" not in given.new


def test_people_that_one_accelerator_serves_are_no_accelerators(bot: Chatbot) -> None:
    turns = ("how big is the kv cache for llama 3 8b at 8k", "so 30 of them on one A10G, does it fit next to the fp16 weights?")
    assert ask(bot, *turns).text.startswith("No: Llama-3.1-8B in fp16 needs 48.3 GB")
    assert ask(bot, "kv cache size for llama 3.1 8b per token?", "so how many 4k users on one L4").text.startswith("At most 10 sequences at once, of 4,096 tokens each")
