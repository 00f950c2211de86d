"""What a profile's policy lets through of an answer, while it comes."""

from cogni_application.turn.ground import AnswerGuard, Evidence, Shown
from cogni_domain.governance.output_policy import OutputCheck, OutputPolicy, Prohibition
from cogni_domain.knowledge.citations import Citation
from cogni_domain.run_record import StripStep


class PermittedAnswer:
    """Verifies what a model writes, passes it through the policy, and verifies what that leaves.

    Twice, because what is stripped lets a prohibited phrase close up, and what is redacted an address. Where a
    profile prohibits and redacts nothing, once is enough.

    Attributes:
        stripped: What was kept back, for the run record; a prohibition by its id, once.

    Source:
        COGNI.BUILD spec, package domain, "OutputPolicy"; DESIGN D6.
    """

    def __init__(self, evidence: Evidence, policy: OutputPolicy) -> None:
        self._written = AnswerGuard(evidence)
        self._check = OutputCheck(policy)
        self._shown = AnswerGuard(evidence) if policy != OutputPolicy() else self._written
        self.stripped = self._shown.stripped = self._written.stripped

    @property
    def shown(self) -> Shown:
        """All that was released so far."""
        return self._shown.shown

    @property
    def cited(self) -> list[Citation]:
        """The citations that were released, in order of appearance, each once."""
        return self._shown.cited

    @property
    def blocked(self) -> Prohibition | None:
        """What was said that is prohibited: nothing is released from there on."""
        return self._check.blocked

    def feed(self, text: str) -> str:
        """Take more of the answer; return what may be shown now."""
        verified = self._written.feed(text)
        if self._shown is self._written:
            return verified
        return self._shown.feed(self._checked(verified))

    def finish(self) -> str:
        """Return what was held back: nothing belongs to it any more. An answer may go on afterwards."""
        verified = self._written.finish()
        if self._shown is self._written:
            return verified
        rest = self._shown.feed(self._checked(verified, final=True))
        return rest + self._shown.finish()

    def add(self, text: str) -> None:
        """Count words of the product's own among what was shown."""
        self._shown.add(text)

    def _checked(self, text: str, *, final: bool = False) -> str:
        was_blocked = self.blocked is not None
        permitted = self._check.feed(text) + (self._check.finish() if final else "")
        if self.blocked is not None and not was_blocked:
            self.stripped.append(StripStep("prohibited", self.blocked.id))
        return permitted
