"""What the checks say of a child."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Finding(BaseModel):
    """The outcome of one check."""

    model_config = ConfigDict(frozen=True)

    check: str
    passed: bool
    reason: str | None = Field(None, description="why it failed, one or two sentences")
    note: str | None = Field(None, description="what is worth knowing of a check that passed")
    calls: int = Field(0, description="replies of the judge that it took")
    blames_child: bool = Field(
        True, description="false when it failed since the judge gave nothing that can be used"
    )


class Verdict(BaseModel):
    """All findings on one child; the last one decides."""

    model_config = ConfigDict(frozen=True)

    item: str = Field(description="id of the child")
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether no check failed."""
        return all(finding.passed for finding in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the child was turned down."""
        return tuple(
            finding.reason or finding.check for finding in self.findings if not finding.passed
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth telling of checks that passed."""
        return tuple(one.note for one in self.findings if one.note is not None)

    @property
    def blames_child(self) -> bool:
        """Whether what failed can be mended by writing the child anew."""
        return any(not finding.passed and finding.blames_child for finding in self.findings)
