"""What may be wanted of a sizing, and the goals that are alike."""

from enum import StrEnum


class Goal(StrEnum):
    """What is wanted of a sizing. If a question has several goals, the first in this order leads the answer."""

    COUNT = "count"
    LARGEST = "largest"
    USERS = "users"
    LONGEST = "longest"
    CHEAPEST = "cheapest"
    SMALLEST = "smallest"
    CARBON = "carbon"
    ENERGY = "energy"
    WATER = "water"
    THROUGHPUT = "throughput"
    TIME = "time"
    FITS = "fits"
    COST = "cost"
    MEMORY = "memory"
    COMPARE = "compare"
    CHOICE = "choice"
    AFFORDABLE = "affordable"
    TOKENS = "tokens"
    DEADLINE = "deadline"
    PREFILL = "prefill"
    LATENCY = "latency"
    TOKEN_COST = "token cost"
    DIFFERENCE = "difference"


OF_SPEED = frozenset({Goal.THROUGHPUT, Goal.LATENCY, Goal.PREFILL, Goal.TOKEN_COST})
OF_TRAINING = frozenset({Goal.TIME, Goal.TOKENS, Goal.DEADLINE})
OF_DEPLOYMENT = frozenset({Goal.COST, *OF_SPEED, *OF_TRAINING})
OF_MONEY = frozenset({Goal.COST, Goal.CHEAPEST, Goal.DIFFERENCE, Goal.AFFORDABLE, Goal.TOKEN_COST})
OF_POWER = frozenset({Goal.ENERGY, Goal.CARBON, Goal.WATER})
# Goals of a choice among machines, or formats, for a model.
OF_PLACING = frozenset({Goal.FITS, Goal.CHOICE, Goal.CHEAPEST})
