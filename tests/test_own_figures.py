"""What the figures of a question come to by themselves, each computed by hand."""

import pytest

from chatbot.sizing.own_figures import lines_of


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        # 12 / 30 = 0.4; × 24 = 9.6
        ("on demand is $30/h, the plan $12/h: how many hours a day until the plan wins?", "From 9.6 hours a day on the commitment is cheaper: it is paid for all hours, so it wins above 40 %"),
        # (10 + 90) × 8 / 25
        ("10 gb of image and 90 gb of weights at 25 gbps, how long?", "32 seconds at the full rate: 10 + 90 GB × 8 bits at 25 Gbps."),
        # 500 / 4
        ("how long does a checkpoint of 500 gb take at 4 gb/s", "125 seconds at the full rate: 500 GB at 4 GB/s."),
        # 5 × 24 × 10 = 1,200; / 20,000
        ("we move 20 tb to save $5/hr for 10 days. worth it?", "It pays as long as the transfer costs less than $0.06 per GB, whose price is not in the data: $1,200 is saved"),
        # 5 × 48 × 1.2 × 400 / 1000
        ("it draws 5 kw for 2 days, pue of 1.2, grid of 400 g per kwh. how many kg?", "115 kg of CO2e at 400 g per kWh: 288 kWh, 5 kW × 48 hours × PUE 1.2."),
        # (10 + 10 × 6 / 30) / (1 - (30 / 2 + 15) / 300) = 12 / 0.9
        (
            "a job of 10 hours: the job takes 10 hours, it is killed every 5 hours, checkpoint takes 6 min, restart takes 15 min, checkpoint every 30 min, 50% off. worth it?",
            "You lose about 3.33 hours, 13.3 hours in all for 10 hours of work: 2 hours write checkpoints",
        ),
        # sqrt(2 × 5 × 1,440)
        ("a failure every day? no, it fails every 1 day, and a checkpoint takes 5 minutes: how often?", "About every 120 minutes"),
        ("the bill says 2160 hours in one month, why?", "3 instances that ran all month: 2,160 hours / (30 days × 24 hours)."),
        ("how long does llama 3 8b take on a g5.xlarge?", ""),
    ],
)  # fmt: skip
def test_figures_of_a_question_are_reckoned_with(question: str, opening: str) -> None:
    told = " ".join(line.text for line in lines_of(question))
    assert told.startswith(opening) if opening else told == ""
