"""What `benchfill ranking` found, in words, tables and pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from benchfill.plots.flips import MOST_MAPPED, flip_map
from benchfill.plots.leaderboard import MOST_MODELS, leaderboard_scores
from benchfill.targets import Uniform

from .methods import MEASURE, fitted_methods, target_words
from .pictures import picture
from .result import Cell, Drawing, ResultPage, Section, Table
from .text import one_line
from .words import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchfill.ranking import Pair, Ranking
    from benchfill.targets import Target

    from .methods import Methods
    from .pictures import Picture

NAME = 50
SHOWN_PAIRS = 50
FEW_ITEMS = 30
EFRON = (
    "Efron, B. (1979). Bootstrap methods: another look at the jackknife. The Annals of Statistics, "
    "7(1), 1-26. doi:10.1214/aos/1176344552."
)
HOEFFDING = (
    "Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. Journal "
    "of the American Statistical Association, 58(301), 13-30. doi:10.1080/01621459.1963.10500830."
)
MAXIMIN = (
    "If you do not know which difficulties will be met in use, the uniform target is the cautious "
    "choice: it is the only one under which two models that differ by some amount on average over "
    "the scale are sure to differ by that amount, wherever on the scale the difference lies."
)
NO_FLIP = (
    "The fitted model itself flips nobody: under it the abler of two models is better on every "
    "item, so no weights can reverse two of them. All this is read from the observed answers; the "
    "fit only says where the items lie."
)


def ranking_page(ranking: Ranking, target: Target) -> ResultPage:
    """Tell who leads, and which pairs may change places."""
    sections = [_boards(ranking, target)]
    if ranking.shares is not None:
        sections += [_flips(ranking), _bounds(ranking)]
    return ResultPage(
        title="The leaderboard under a target difficulty",
        lead=_lead(ranking, target),
        caveats=_caveats(ranking),
        sections=tuple(sections),
    )


def ranking_methods(envelope: Mapping[str, Any], ranking: Ranking, target: Target) -> Methods:
    """Describe the ranking so that it can be pasted into a paper."""
    sentences = (
        "Difficulties were scaled to [0, 1] by the easiest and the hardest item. Models were "
        "scored by their mean observed rate of success over the items, each item counting once "
        f"(benchmark) or by the mass of {target_words(target)} that lies nearest to it (target); "
        f"the 1-Wasserstein distance between both is {ranking.w1:.3f}. Intervals (90%, percentile) "
        "and P(flip), the share of replicates in which the order of two models under the target is "
        f"opposite to that on the benchmark, rest on {ranking.replicates:,} bootstrap replicates "
        "of items and of rollouts within items. A pair was called stable by bound when its "
        "observed difference on the benchmark exceeds L W1 plus Hoeffding's limit at "
        f"{ranking.delta:g} divided by the number of pairs ({ranking.pairs:,}), with L the largest "
        "slope along the scale of the difference of the two fitted curves.",
    )
    return fitted_methods(envelope, (ranking,), sentences, (MEASURE, EFRON, HOEFFDING))


def _lead(ranking: Ranking, target: Target) -> tuple[str, ...]:
    if not ranking.scores:
        return ("No model has an answer that counts, so there is nothing to rank.",)
    best = ranking.scores[0]
    spread = f"with difficulties spread like {target_words(target)}"
    if len(ranking.scores) == 1:
        return (
            f"There is only one model, {one_line(best.model, NAME)}, so there is no order to "
            f"change: it scores {best.benchmark.score.value:.3f} on the benchmark, and "
            f"{best.target.score.value:.3f} {spread}.",
        )
    return (_leaders(ranking, spread), *_kept(ranking))


def _leaders(ranking: Ranking, spread: str) -> str:
    here = [one.model for one in ranking.scores if one.benchmark.rank == 1]
    there = [one.model for one in ranking.scores if one.target.rank == 1]
    if here == there:
        return f"{_some(here)} {_leads(here)} on the benchmark, and also {spread}."
    return (
        f"{_some(here)} {_leads(here)} on the benchmark; {spread}, {_some(there)} {_leads(there)}."
    )


def _some(models: list[str]) -> str:
    if len(models) > 2:
        return f"{one_line(models[0], NAME)} and {len(models) - 1} more"
    return " and ".join(one_line(model, NAME) for model in models)


def _leads(models: list[str]) -> str:
    return "leads" if len(models) == 1 else "lead together"


def _kept(ranking: Ranking) -> tuple[str, ...]:
    shares, pairs = ranking.shares, ranking.pairs_compared
    if shares is None:
        return ("No two models answered a common item that counts, so no pair can be compared.",)
    same = round(shares.stable_by_bootstrap * pairs)
    opposite = round(shares.flipped_by_bootstrap * pairs)
    return (
        f"Of {count_of(pairs, 'pair')} of models, {same:,} keep their order, {opposite:,} change "
        f"places, and for {pairs - same - opposite:,} the answers are too few to tell (by 90% "
        "intervals of both differences).",
    )


def _caveats(ranking: Ranking) -> tuple[str, ...]:
    said = []
    heaviest = ranking.heaviest[0]
    if ranking.effective_items < FEW_ITEMS or heaviest.weight > 0.05:
        said.append(
            f"The target rests on few items: the weighted {count_of(ranking.items, 'item')} are "
            f"worth {ranking.effective_items:.0f} of equal weight, and "
            f"{one_line(heaviest.item, NAME)} alone stands for {heaviest.weight:.0%} of it."
        )
    if ranking.extreme_weight > 0.1:
        said.append(
            f"{ranking.extreme_weight:.0%} of the target lies nearest to items that all models "
            "solved or none, where no two models differ and whose place is the model's guess."
        )
    if ranking.missing_cells:
        said.append(
            "Not every model answered every item. A score is over the items that the model "
            "answered; a pair is compared on those that both answered, so its order may differ "
            "from that of the two scores."
        )
    if ranking.mean_rollouts < 2:
        said.append(
            "With about one answer of each model to each item the items' places are rough, and the "
            "intervals under the target too narrow: in simulations they held the truth in 68 to 87 "
            "of 100 cases, not in 90."
        )
    said += _left_out(ranking)
    return tuple(said)


def _left_out(ranking: Ranking) -> list[str]:
    said = []
    if ranking.unscored:
        said.append(
            f"{count_of(len(ranking.unscored), 'model')} without an answer that counts "
            f"{'is' if len(ranking.unscored) == 1 else 'are'} left out: "
            f"{_some(list(ranking.unscored))}."
        )
    if ranking.places_apart is not None:
        said.append(
            f"Of {ranking.pairs:,} pairs only those at most {ranking.places_apart:,} places apart "
            f"were compared ({ranking.pairs_compared:,}), to bound time and memory; shares are of "
            "these."
        )
    if ranking.pairs_without_common_items:
        apart = ranking.pairs_without_common_items
        said.append(f"{count_of(apart, 'pair')} without a common item could not be compared.")
    return said


def _boards(ranking: Ranking, target: Target) -> Section:
    words = (
        "On the benchmark every item counts once, so a score depends on how many easy and hard "
        f"items there happen to be. Under the target, {target_words(target)}, each item counts by "
        "the part of the target that lies nearest to it. The distance between both (W1) is "
        f"{ranking.w1:.3f}; the weighted items are worth {ranking.effective_items:,.0f} of equal "
        "weight.",
        *((MAXIMIN,) if isinstance(target, Uniform) else ()),
    )
    rows = tuple(
        (
            one.model,
            one.benchmark.score.value,
            one.benchmark.rank,
            one.target.score.value,
            one.target.rank,
            f"{one.target.rank_q05} to {one.target.rank_q95}",
        )
        for one in ranking.scores
    )
    intervals: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.model,
            one.items,
            *(f"{at.score.q05:.3f} to {at.score.q95:.3f}" for at in (one.benchmark, one.target)),
            f"{one.benchmark.rank_q05} to {one.benchmark.rank_q95}",
        )
        for one in ranking.scores
    )
    drawn = Drawing(
        partial(_draw_boards, ranking),
        "Circles: scores on the benchmark; diamonds: under the target; lines: 90% intervals. Ranks "
        "that change are bold."
        + (f" The best {MOST_MODELS} are drawn." if len(rows) > MOST_MODELS else ""),
    )
    tables = (
        Table(
            "Scores and ranks; the last column is the 90% interval of the rank under the target.",
            ("model", "benchmark", "rank", "target", "rank", "ranks"),
            rows,
        ),
        Table(
            "90% intervals, and how many items each model answered.",
            ("model", "items", "benchmark score", "target score", "benchmark rank"),
            intervals,
            on_terminal=False,
        ),
    )
    return Section("Two leaderboards", words, (drawn,) if rows else (), tables)


def _draw_boards(ranking: Ranking) -> Picture:
    moved = sum(one.benchmark.rank != one.target.rank for one in ranking.scores)
    return picture(
        "leaderboards.png",
        f"Scores of {count_of(len(ranking.scores), 'model')} on the benchmark and under the "
        f"target, with 90% intervals; {moved} have another rank under the target. The same figures "
        "stand in the tables.",
        lambda theme: leaderboard_scores(ranking.scores, theme=theme),
    )


def _flips(ranking: Ranking) -> Section:
    words = (
        "P(flip) is the share of bootstrap replicates (items and rollouts drawn anew) in which the "
        "order of two models under the target is opposite to their order on the benchmark. It "
        "holds the chance in few answers as well as the mismatch, so take it as a ceiling: in "
        "simulations one in seven of the pairs with P(flip) of .35 or more truly flipped.",
        NO_FLIP,
    )
    listed = [pair for pair in ranking.likeliest_flips if pair.p_flip > 0][:SHOWN_PAIRS]
    tables = (
        Table(
            f"The {len(listed)} likeliest flips, with the differences of their scores."
            if listed
            else "No pair flips in any replicate.",
            ("ahead", "behind", "P(flip)", "benchmark", "target"),
            tuple(_flip(pair) for pair in listed),
        ),
        Table(
            "The 90% intervals of these differences.",
            ("ahead", "behind", "common items", "benchmark", "target"),
            tuple(_intervals(pair) for pair in listed),
            on_terminal=False,
        ),
    )
    mapped = 3 <= len(ranking.scores) <= MOST_MAPPED and ranking.places_apart is None
    drawn = Drawing(
        partial(_draw_flips, ranking),
        "Rows and columns are models by their rank on the benchmark; the darker, the likelier "
        "their order is opposite under the target. Hatched: no common item.",
    )
    return Section("Which pairs may change places", words, (drawn,) if mapped else (), tables)


def _flip(pair: Pair) -> tuple[Cell, ...]:
    differences = pair.d_benchmark.value, pair.d_target.value
    return (pair.ahead, pair.behind, pair.p_flip, *differences)


def _intervals(pair: Pair) -> tuple[Cell, ...]:
    return (
        pair.ahead,
        pair.behind,
        pair.common_items,
        *(f"{one.q05:+.3f} to {one.q95:+.3f}" for one in (pair.d_benchmark, pair.d_target)),
    )


def _draw_flips(ranking: Ranking) -> Picture:
    likely = ranking.likeliest_flips[0]
    return picture(
        "flips.png",
        f"P(flip) of all {ranking.pairs_compared:,} pairs as shaded cells; the largest, "
        f"{likely.p_flip:.2f}, is of {one_line(likely.ahead, NAME)} and "
        f"{one_line(likely.behind, NAME)}. The likeliest ones stand in the table.",
        lambda theme: flip_map(
            [one.model for one in ranking.scores],
            {(pair.ahead, pair.behind): pair.p_flip for pair in ranking.likeliest_flips},
            theme=theme,
        ),
    )


def _bounds(ranking: Ranking) -> Section:
    share = 0.0 if ranking.shares is None else ranking.shares.stable_by_bound
    return Section(
        "What can be proved without drawing anything",
        (
            f"{share:.0%} of the pairs are so far apart on the benchmark that no mismatch of "
            f"{ranking.w1:.3f} could reverse them, whatever the rollouts' luck: their difference "
            "exceeds L times the mismatch, L being how fast the difference of the two fitted "
            "curves changes along the scale, plus what chance can do to the rollouts (Hoeffding's "
            f"inequality, wrong for any pair with probability at most {ranking.delta:g}). The "
            "bound looks at the worst case, so a pair that fails it need not be at risk.",
        ),
    )
