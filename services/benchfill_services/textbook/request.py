"""What `benchfill generate` was asked for, and its files, read."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import benchfill as bf
from benchfill.errors import InputError
from benchfill.textbook.files import even_blueprint, read_blueprint, read_taxonomy
from benchfill.textbook.sources.read import read_sources
from benchfill_agents.pool.config import read_pool

from .seating import models_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill.textbook.blueprint import Blueprint
    from benchfill.textbook.chapter import Reading
    from benchfill.textbook.sources.read import PdfReaderName
    from benchfill.textbook.taxonomy import Taxonomy
    from benchfill_agents.pool.config import Pool

    from .seating import SeatedModels


@dataclass(frozen=True)
class GenerateRequest:
    """The options; see `benchfill generate --help`."""

    sources: tuple[Path, ...]
    out: Path
    taxonomy: Path | None = None
    blueprint: Path | None = None
    propose_taxonomy: Path | None = None
    pool: Path | None = None
    designer: str | None = None
    verifier: str | None = None
    solver: str | None = None
    per_competency: int | None = None
    tries: int = 4
    aim_gap: Path | None = None
    items: Path | None = None
    max_gaps: int = 3
    min_p_in_gap: float = 0.9
    budget_rollouts: int | None = None
    budget_tokens: int | None = None
    budget_usd: float | None = None
    attribution: str | None = None
    licence: str | None = None
    pdf: PdfReaderName = "pypdf"
    seed: int = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read."""
        single = (self.taxonomy, self.blueprint, self.pool, self.aim_gap, self.items)
        return (*self.sources, *(one for one in single if one is not None))

    def job_id(self, inputs: dict[str, str]) -> str:
        """Return the id of the job, 32 hex digits; `inputs` are the files' hashes by path.

        A budget may be raised and the job goes on, so it is no part of the id.
        """
        paths = ("sources", "out", "taxonomy", "blueprint", "propose_taxonomy", "pool", "aim_gap")
        options = {
            name: value
            for name, value in asdict(self).items()
            if name not in {*paths, "items"} and not name.startswith("budget")
        }
        content = [
            importlib.metadata.version("benchfill"),
            "generate",
            [inputs[str(path)] for path in self.sources],
            [
                inputs[str(path)] if path is not None else None
                for path in (self.taxonomy, self.blueprint, self.pool, self.aim_gap, self.items)
            ],
            options,
            self.propose_taxonomy is not None,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class GenerateInputs:
    """The files of a request, read."""

    reading: Reading
    models: SeatedModels
    pool: Pool | None
    taxonomy: Taxonomy | None
    blueprint: Blueprint | None
    responses: bf.ResponseMatrix | None = None
    items: tuple[bf.Item, ...] = ()


def read_inputs(request: GenerateRequest) -> GenerateInputs:
    """Read the files and refuse what does not fit together, before anything is paid for.

    Raises
    ------
    InputError
        A file cannot be used, an option is missing, or they do not fit together.
    """
    pool = read_pool(request.pool) if request.pool is not None else None
    models = models_of(request.designer, request.verifier, request.solver, pool)
    taxonomy, blueprint = _plan(request)
    reading = read_sources(
        request.sources,
        pdf=request.pdf,
        licence=request.licence,
        attribution=request.attribution,
    )
    if not reading.chapters:
        raise InputError("no chapter was found in the sources.", field="--source")
    if taxonomy is not None:
        _check_chapters(request, taxonomy, reading)
    responses, items = _benchmark(request, pool)
    return GenerateInputs(reading, models, pool, taxonomy, blueprint, responses, items)


def _plan(request: GenerateRequest) -> tuple[Taxonomy | None, Blueprint | None]:
    if request.propose_taxonomy is not None:
        if request.taxonomy is not None:
            raise InputError(
                "a taxonomy is given already; leave --taxonomy or --propose-taxonomy out.",
                field="--propose-taxonomy",
            )
        return None, None
    if request.taxonomy is None:
        raise InputError(
            "no taxonomy is given; name one with --taxonomy, or have one written for you to edit "
            "with --propose-taxonomy FILE."
        )
    taxonomy = read_taxonomy(request.taxonomy)
    if request.blueprint is None and request.per_competency is None:
        raise InputError(
            "it is not said how many items are wanted; give --blueprint FILE or --per-competency N."
        )
    if request.blueprint is None:
        wanted = request.per_competency or 0
        return taxonomy, even_blueprint(taxonomy, per_competency=wanted)
    if request.per_competency is not None:
        raise InputError(
            "the blueprint says already how many items are wanted; leave --blueprint or "
            "--per-competency out.",
            field="--per-competency",
        )
    return taxonomy, read_blueprint(request.blueprint, taxonomy)


def _check_chapters(request: GenerateRequest, taxonomy: Taxonomy, reading: Reading) -> None:
    known = {chapter.id for chapter in reading.chapters}
    for competency in taxonomy.competencies:
        for chapter in competency.chapters:
            if chapter not in known:
                raise InputError(
                    f"names the chapter {chapter!r}, which is none of the sources'; they have "
                    f"{', '.join(sorted(known))}. Add its file with --source, or take the "
                    "competency out.",
                    source=str(request.taxonomy),
                    field=f"competency {competency.id}",
                )


def _benchmark(
    request: GenerateRequest, pool: Pool | None
) -> tuple[bf.ResponseMatrix | None, tuple[bf.Item, ...]]:
    if request.aim_gap is None:
        if request.items is not None:
            raise InputError("is used with --aim-gap only; leave it out.", field="--items")
        if request.budget_rollouts is not None:
            raise InputError(
                "nothing is measured without --aim-gap; for what writers may take, give "
                "--budget-tokens or --budget-usd.",
                field="--budget-rollouts",
            )
        return None, ()
    if pool is None:
        raise InputError(
            "items are measured on a pool; name the pool file with --pool.", field="--aim-gap"
        )
    if (request.budget_rollouts, request.budget_tokens, request.budget_usd) == (None, None, None):
        raise InputError(
            "items are written until the gaps are filled or a budget ends; give --budget-rollouts, "
            "--budget-tokens or --budget-usd.",
            field="--aim-gap",
        )
    matrix = bf.read_responses(request.aim_gap)
    known = set(matrix.models)
    for model in pool.models:
        if model.response_name not in known:
            raise InputError(
                f"model {model.name!r} stands in no line of {request.aim_gap} (as "
                f"{model.response_name!r}); set its matrix_name, or put a model that measures "
                "nothing under `judges`.",
                source=str(request.pool),
            )
    if request.items is None:
        return matrix, ()
    items = bf.read_items(request.items)
    if not set(matrix.items) & {item.id for item in items}:
        raise InputError(
            f"none of its items stands in {request.aim_gap}; the ids must be the same.",
            source=str(request.items),
        )
    return matrix, items
