"""What the server is asked beside chats; fields are those of the commands `wattwise ask` and `wattwise size`."""

from pydantic import BaseModel, ConfigDict, Field

from chatbot.answer import Turn

MOST_PASSAGES = 50


class PastTurn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str
    answer: str


class AskRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(examples=["How much memory does a trn1.32xlarge have?"])
    history: list[PastTurn] = Field([], description="The turns before the question, in their order.")
    model: str | None = Field(None, description="offline: answer without the model that the server was started with.")

    def turns(self) -> list[Turn]:
        return [Turn(turn.question, turn.answer) for turn in self.history]


class SearchRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(examples=["memory of a trn1.32xlarge"])
    limit: int = Field(12, ge=1, le=MOST_PASSAGES, description="How many passages at the most.")
