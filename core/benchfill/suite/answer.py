"""The answer in words, for somebody who has never heard of eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .result import BlindSpot, Place, SuiteAnalysis, Transfer

MOST_NAMES = 8
FEW_MODELS = 30
STEADY, SHAKY = 0.9, 0.5  # shares of the resamples in which a benchmark is chosen


def answer_of(found: SuiteAnalysis) -> tuple[str, ...]:
    """Say what the suite measures, what to keep, what adds nothing, and what nobody measures."""
    sentences = [_measures(found), _keep(found), _core(found), *_adds(found), _nobody(found)]
    if found.transfer is not None:
        sentences.append(_transfer(found.transfer))
    if found.items:
        sentences.append(_items(found))
    return tuple(sentences)


def cautions_of(found: SuiteAnalysis) -> tuple[str, ...]:
    """Say what weakens the answer."""
    data, said = found.data, []
    if data.models <= data.benchmarks:
        said.append(
            f"There are {data.models} models in use and {data.benchmarks} benchmarks: with no more "
            "models than benchmarks every set of scores looks as if it had few directions. Read "
            "all figures as of this table only."
        )
    elif data.models < FEW_MODELS:
        said.append(
            f"With {data.models} models every correlation is rough; the intervals say how rough."
        )
    said += [
        f"{name} falls where all other benchmarks rise: if less is better there, turn its scores "
        "round in the file. Nothing was turned round here, so its scores count against a model in "
        "every mean."
        for name in data.reversed
    ]
    said += [
        f"{first} and {second} tell the models apart in the same way: one is enough."
        for first, second in data.duplicates
    ]
    if data.missing_cells:
        said.append(_missing(found))
    if data.overall_by == "mean score in percent":
        said.append(
            "Some benchmarks lie within [0, 1] beside others that reach beyond 1: for the overall "
            "score the former were taken for fractions and counted in percent."
        )
    elif data.overall_by == "mean z-score" and not data.missing_cells:
        said.append(
            "The benchmarks are not all on a scale from 0 to 1 or from 0 to 100, so the best "
            "models were chosen by their mean z-score."
        )
    return tuple(said)


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Write names in a sentence, the first eight of them or as many as `most` says."""
    shown = list(names[:most])
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _measures(found: SuiteAnalysis) -> str:
    one = found.spectrum
    noise = (
        "none of them stands out from what chance would do with unrelated benchmarks"
        if one.above_mp == 0
        else f"{_directions(one.above_mp)} out from chance, and without all others "
        f"{one.d_eff_corrected.value:.2f} of those are left"
    )
    return (
        f"On the {one.models:,} models in use, {one.benchmarks} benchmarks measure as much as "
        f"{one.d_eff.value:.2f} independent ones would (95% interval {_interval(one.d_eff)}); "
        f"{noise}."
    )


def _directions(count: int) -> str:
    return "one direction stands" if count == 1 else f"{count} directions stand"


def _keep(found: SuiteAnalysis) -> str:
    one = found.coverage
    best = "no other set of that size covers more" if one.exact else "found greedily"
    if one.size == found.data.benchmarks:
        every = "both" if one.size == 2 else f"all {one.size}"
        return f"Keep {every}: fewer do not cover what was asked for."
    return (
        f"Keep {'this' if one.size == 1 else f'these {one.size}'}: {listed(one.kept, one.size)}. "
        f"{'It covers' if one.size == 1 else 'They cover'} {one.f.value:.0%} of the suite ("
        f"{best}; {'one' if one.size == 1 else one.size} at random would cover "
        f"{one.curve[one.size - 1].random:.0%}), and from {'it' if one.size == 1 else 'them'} "
        f"{one.foretold.value:.0%} of the variance of all scores can be foretold."
    )


def _core(found: SuiteAnalysis) -> str:
    chosen = found.coverage
    shares = {one.benchmark: one.share for one in chosen.core}
    if not shares:
        return "How steady that choice is cannot be said: the models are too few to resample."
    steady = [name for name, share in shares.items() if share > STEADY]
    said = (
        "With other models of the same kind, choosing step by step would nearly always take "
        f"{listed(steady)}"
        if steady
        else "With other models of the same kind no benchmark would be chosen nearly always"
    )
    shaky = [name for name in chosen.kept if shares[name] < SHAKY]
    if shaky:
        said += (
            f", and of the kept ones {listed(shaky)} in less than half of the cases: "
            "other sets are nearly as good"
        )
    spare = [name for name in steady if name not in chosen.kept]
    if spare:
        said += f". {listed(spare)} would be a good choice too, though not beside the kept ones"
    return f"{said}."


def _adds(found: SuiteAnalysis) -> list[str]:
    rest = [one for one in found.places if one.explained is not None]
    if not rest:
        return []
    nothing = [one.benchmark for one in rest if one.verdict == "adds nothing"]
    little = [one.benchmark for one in rest if one.verdict == "adds little"]
    something = [one for one in rest if one.verdict == "adds something"]
    said = []
    if nothing:
        said.append(
            f"These add nothing: {listed(nothing, len(nothing))} (the kept ones foretell 90% or "
            "more of each)."
        )
    if not nothing:
        most = max(rest, key=_told)
        said.append(
            f"No other benchmark goes without loss: {most.benchmark} comes nearest, of which the "
            f"kept ones foretell {_told(most):.0%}."
        )
    if little:
        said.append(
            f"These add little: {listed(little, len(little))} (75% to 90% of each is foretold)."
        )
    if something:
        said.append(
            f"Left out, but with something of {'its' if len(something) == 1 else 'their'} own: "
            f"{listed([f'{one.benchmark} ({_told(one):.0%} foretold)' for one in something])}."
        )
    return said


def _told(place: Place) -> float:
    return place.explained.value if place.explained is not None else 0.0


def _nobody(found: SuiteAnalysis) -> str:
    spot = found.blind_spot
    if spot.leading < 2:
        return (
            "All benchmarks measure one direction. What is not in that direction nobody measures "
            "here, and no figure of this table can say what it is."
        )
    return (
        f"This direction nobody measures well: {contrast(spot)}. Every benchmark is at least "
        f"{_degrees(spot)} degrees away from it (90: tells nothing of it); with as many random "
        f"directions the farthest would be about {spot.omega_random.value * 57.29578:.0f} degrees "
        "away."
        f"{_of_noise(found)}"
    )


def _of_noise(found: SuiteAnalysis) -> str:
    """Say so where directions were counted that chance would give as well."""
    sure, counted = found.spectrum.above_mp, found.blind_spot.leading
    if sure >= counted:
        return ""
    return (
        f" Of the {counted} components that span these directions {sure or 'none'} "
        f"{'stands' if sure == 1 else 'stand'} out from chance, so take it for a hint."
    )


def contrast(spot: BlindSpot) -> str:
    """Describe the farthest direction by the benchmarks with the largest weights."""
    largest = abs(spot.direction[0].weight)
    parts = [one for one in spot.direction[:6] if abs(one.weight) > largest / 3]
    up = [one.benchmark for one in parts if one.weight > 0]
    down = [one.benchmark for one in parts if one.weight < 0]
    if not down:
        return f"high on {listed(up)} together"
    return f"high on {listed(up)} but low on {listed(down)}"


def _degrees(spot: BlindSpot) -> str:
    return f"{spot.omega * 57.29578:.0f}"


def _transfer(one: Transfer) -> str:
    random = one.ratio_random
    better = one.ratio.value > (random.q975 or random.value)
    return (
        f"At the later date the benchmarks chosen now cover {one.ratio.value:.0%} of what those "
        f"chosen then cover; random ones cover {random.value:.0%}, so the choice "
        f"{'carries over' if better else 'is no better there than chance'}."
    )


def _items(found: SuiteAnalysis) -> str:
    best = found.items[0]
    if best.gap_left is None or best.gap_right is None or best.help <= 0:
        return "None of the benchmarks whose items were given has a gap that a new item could fill."
    sure = "that gap is surely empty" if best.verdict == "empty" else "that gap may not be empty"
    return (
        f"A new item would help most in {best.benchmark}, at a difficulty from {best.gap_left:.2f} "
        f"to {best.gap_right:.2f} (0 is its easiest item, 1 its hardest; {sure})."
    )


def _missing(found: SuiteAnalysis) -> str:
    data = found.data
    whole = "cannot be had" if data.d_eff_complete is None else f"is {data.d_eff_complete:.2f}"
    pairs = "cannot be had" if data.d_eff_pairwise is None else f"is {data.d_eff_pairwise:.2f}"
    left = (
        f"{data.models_incomplete:,} models were left out for it"
        if data.missing == "complete"
        else "each pair of benchmarks was correlated over the models that have both"
    )
    return (
        f"{data.missing_cells:,} scores are missing: {left}. By complete rows the number of "
        f"directions {whole}, pair by pair it {pairs}."
    )


def _interval(one: object) -> str:
    low, high = getattr(one, "q025", None), getattr(one, "q975", None)
    return "unknown" if low is None or high is None else f"{low:.2f} to {high:.2f}"
