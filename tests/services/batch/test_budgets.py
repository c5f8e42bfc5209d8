"""A common budget: never exceeded, and nobody goes without."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfill.errors import BudgetExhaustedError
from benchfill_services.batch.common_budget import CommonBudget
from benchfill_services.batch.grants import Grants
from benchfill_services.fill_request import FillRequest
from benchfill_services.jobs.record import FillBudget
from benchfill_services.store.usage import RedisUsage

REQUEST = FillRequest(Path("i"), Path("r"), Path("p"), Path("o"))


def usage(valkey, job: str) -> RedisUsage:
    return RedisUsage(valkey, job, "test")


async def test_jobs_share_rollouts_tokens_and_dollars(valkey) -> None:
    common = CommonBudget(FillBudget(rollouts=100, tokens=50, usd=2.0))
    one = common.share("one", usage(valkey, "one"), used_before=0, request=REQUEST)
    two = common.share("two", usage(valkey, "two"), used_before=0, request=REQUEST)
    one.take(60)
    two.take(40)
    with pytest.raises(BudgetExhaustedError, match="of 100"):
        one.take(1)
    assert (one.used, two.used) == (60, 40)
    two.usage.tokens = 50
    with pytest.raises(BudgetExhaustedError, match="tokens"):
        one.check()
    two.usage.tokens = 0
    one.usage.usd = two.usage.usd = 1.0
    with pytest.raises(BudgetExhaustedError, match="US dollars"):
        two.check()


async def test_a_jobs_own_budget_still_holds(valkey) -> None:
    request = FillRequest(*(Path("x") for _ in range(4)), budget_rollouts=10)
    common = CommonBudget(FillBudget(rollouts=100))
    share = common.share("one", usage(valkey, "one"), used_before=0, request=request)
    share.take(10)
    with pytest.raises(BudgetExhaustedError, match="budget of 10"):
        share.take(1)


async def test_what_an_earlier_run_used_is_counted_once(valkey) -> None:
    common = CommonBudget(FillBudget(rollouts=100))
    one = common.share("one", usage(valkey, "one"), used_before=70, request=REQUEST)
    two = common.share("two", usage(valkey, "two"), used_before=0, request=REQUEST)
    with pytest.raises(BudgetExhaustedError):
        two.take(31)  # although the first job has not begun again
    two.take(20)
    one.take(70)  # comes from the ledger
    one.take(10)
    with pytest.raises(BudgetExhaustedError):
        one.take(1)


@settings(max_examples=150, deadline=None)
@given(
    total=st.integers(0, 5_000),
    needs=st.lists(st.integers(1, 2_000), min_size=1, max_size=7),
    own=st.integers(50, 3_000) | st.none(),
    at_once=st.integers(1, 4),
)
def test_grants_are_never_more_than_there_is_and_all_of_it_can_be_used(
    total: int, needs: list[int], own: int | None, at_once: int
) -> None:
    """Jobs that need a number of rollouts each, and stop where their grant ends."""
    names = [str(number) for number in range(len(needs))]
    need = dict(zip(names, needs, strict=True))
    grants = Grants(FillBudget(rollouts=total), {name: FillBudget(rollouts=own) for name in names})
    used, waiting, out, short, sent = dict.fromkeys(names, 0), [*names], [], [], 0
    while True:
        while len(out) < at_once:
            all_waiting = [*waiting, *short]
            again = [one for one in short if grants.may_have_more(one, all_waiting)]
            if not waiting and not again:
                break
            name = waiting.pop(0) if waiting else again[0]
            short = [one for one in short if one != name]
            granted = grants.grant(name, all_waiting).rollouts
            assert granted is not None
            assert granted >= used[name]
            assert own is None or granted <= own
            out.append((name, granted))
            at_work = {one for one, _ in out}
            held = sum(limit for _, limit in out)
            assert held + sum(used[one] for one in names if one not in at_work) <= total
        if not out:
            break
        name, granted = out.pop(0)
        used[name] = max(used[name], min(need[name], granted))
        grants.note_used(name, {"rollouts": float(used[name]), "tokens": 0.0, "usd": 0.0})
        sent += 1
        assert sent < 500, "it never ends"
        if used[name] < need[name] and grants.is_short(name):
            short.append(name)
    assert sum(used.values()) <= total
    # nobody goes short while much is left over
    lacking = [one for one in names if used[one] < min(need[one], own or need[one])]
    assert not lacking or total - sum(used.values()) <= 0.02 * total * len(names) + len(names)
