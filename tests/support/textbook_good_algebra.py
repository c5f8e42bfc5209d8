"""Right items of arithmetic and algebra, with units, rounding, percentages and formulas."""

from __future__ import annotations

from support.textbook_items import ItemCase, case, computed, given, inferred, wrong


def dose_by_weight() -> ItemCase:
    return case(
        "dose by weight in several parts",
        "A child of 18 kg is given 15 mg of a drug per kilogram and day, in four equal parts. The "
        "syrup holds 24 mg per millilitre. How many millilitres is each part, rounded to one "
        "decimal place?",
        [
            given("weight", "18", "weight", unit="kg"),
            given("per_kg", "15", "dose for a kilogram", unit="mg"),
            given("parts", "4", "parts of a day"),
            given("strength", "24", "strength of the syrup"),
            computed("daily", "weight * per_kg", "270", "arithmetic", "rate", unit="mg"),
            computed("part", "daily / parts", "67.5", "arithmetic", "average", unit="mg"),
            computed("exact", "part / strength", "45/16", "arithmetic", "rate", unit="ml"),
            computed("volume", "exact", "2.8", "rounding", unit="ml", decimals=1),
        ],
        "2.8 ml",
        [
            wrong("11.3 ml", "does not divide into parts", "part", "arithmetic", "daily"),
            wrong("3.8 ml", "divides into three parts", "part", "average", "daily / 3"),
            wrong("2.9 ml", "rounds the part up before the division", "part", "early-rounding",
                  "ceil(daily / parts) + 1"),
            wrong("1620.0 ml", "multiplies by the strength", "exact", "rate", "part * strength"),
        ],
    )  # fmt: skip


def price_after_two_changes() -> ItemCase:
    return case(
        "price after a rise and a discount",
        "A jacket costs $1,200. Its price is raised by 25% and the new price is then cut by 30%. "
        "By what percentage is the final price below the first one?",
        [
            given("price", "1200", "first price"),
            given("rise", "25%".rstrip("%"), "rise in percent"),
            given("cut", "30", "cut in percent"),
            computed("raised", "price * (1 + rise/100)", "1500", "percentage", "percentage"),
            computed("final", "raised * (1 - cut/100)", "1050", "percentage", "percentage"),
            computed("lost", "price - final", "150", "arithmetic", "rate"),
            computed("below", "lost / price * 100", "12.5", "percentage", unit="%"),
        ],
        "12.5%",
        [
            wrong("5%", "adds the two percentages", "final", "percentage",
                  "price * (1 + rise/100 - cut/100)"),
            wrong("10%", "takes the loss as a share of the raised price", "below", "percentage",
                  "lost / 1500 * 100"),
            wrong("30%", "forgets the rise", "raised", "percentage", "price"),
            wrong("47.5%", "takes the rise for a cut", "raised", "percentage",
                  "price * (1 - rise/100)"),
        ],
    )  # fmt: skip


def meeting_trains() -> ItemCase:
    return case(
        "when two trains meet",
        "Two stations are 330 km apart. A train leaves the first at 8 o'clock at 90 km per hour "
        "towards the second; another leaves the second one hour later at 70 km per hour "
        "towards the "
        "first. How many hours after the first train's start do they meet?",
        [
            given("apart", "330", "distance", unit="km"),
            given("fast", "90", "speed of the first"),
            given("slow", "70", "speed of the second"),
            given("delay", "1", "hours between the starts"),
            computed("alone", "fast * delay", "90", "arithmetic", "rate"),
            computed("rest", "apart - alone", "240", "arithmetic"),
            computed("closing", "fast + slow", "160", "arithmetic", "rate"),
            computed("shared", "closing * t = rest", "3/2", "isolate", "equation", solve_for="t"),
            computed("hours", "delay + shared", "2.5", "arithmetic", unit="hours"),
        ],
        "2.5 hours",
        [
            wrong("1.5 hours", "counts from the second train's start", "hours", "isolate",
                  "shared"),
            wrong("33/16 hours", "lets both start at once", "hours", "rate", "330/160"),
            wrong("13 hours", "takes the difference of the speeds", "closing", "rate",
                  "fast - slow"),
            wrong("165 minutes", "takes the head start with the slow train", "alone", "rate",
                  "apart - 280"),
        ],
        symbols=("t",),
    )  # fmt: skip


def area_of_a_frame() -> ItemCase:
    return case(
        "expression for the area of a frame",
        "A square picture with sides of length s has a frame of width w on all four sides. Which "
        "expression in s and w gives the area of the frame alone?",
        [
            given("side", "s", "side of the picture"),
            given("width", "w", "width of the frame"),
            computed("outer", "side + 2 * width", "s + 2*w", "arithmetic", "equation"),
            computed("whole", "outer ** 2", "(s + 2*w)**2", "arithmetic", "rate"),
            computed("inner", "side ** 2", "s^2", "arithmetic"),
            computed("frame", "whole - inner", "4*s*w + 4*w^2", "arithmetic", "equation"),
            computed("short", "frame", "4*w*(s + w)", "isolate"),
        ],
        "4w(s + w)",
        [
            wrong("2sw + w^2", "counts the frame on one side only", "outer", "arithmetic",
                  "side + width"),
            wrong("(s + 2w)^2", "does not take the picture off", "frame", "arithmetic", "whole"),
            wrong("4w^2", "squares term by term", "whole", "isolate",
                  "side ** 2 + 4 * width ** 2"),
            wrong("4*s*w", "forgets the corners", "frame", "arithmetic", "4 * side * width"),
        ],
        symbols=("s", "w"),
    )  # fmt: skip


def compound_interest() -> ItemCase:
    return case(
        "balance with a withdrawal between",
        "An account holds 2,000 dollars and earns 5% interest at the end of each year. After the "
        "interest of the second year 205 dollars are taken out. What is the balance after the "
        "interest of the third year, to the cent?",
        [
            given("start", "2000", "first balance"),
            given("rate", "0.05", "interest"),
            given("taken", "205", "withdrawal"),
            computed("one", "start * (1 + rate)", "2100", "accumulation", "rate"),
            computed("two", "one * (1 + rate)", "2205", "accumulation", "percentage"),
            computed("left", "two - taken", "2000", "arithmetic"),
            computed("three", "left * (1 + rate)", "2100.00", "rounding", decimals=2),
        ],
        "$2,100.00",
        [
            wrong("$2,315.25", "forgets the withdrawal", "left", "accumulation", "two"),
            wrong("$2,094.75", "pays simple interest in the second year", "two", "accumulation",
                  "start * (1 + 2 * rate)"),
            wrong("$2,000.00", "stops after the second year", "three", "accumulation", "left"),
            wrong("$2,110.25", "takes the money out after the third interest", "three",
                  "accumulation", "two * (1 + rate) - taken"),
        ],
    )  # fmt: skip


def quadratic_roots() -> ItemCase:
    return case(
        "sum of squares of the roots",
        r"The equation $x^2 - 7x + 10 = 0$ has two real solutions. What is the sum of their "
        "squares?",
        [
            given("linear", "7", "coefficient"),
            given("constant", "10", "constant"),
            computed("roots", "x**2 - linear*x + constant = 0", "[2, 5]", "isolate", "equation",
                     solve_for="x"),
            computed("small", "roots[0] ** 2", "4", "arithmetic", "list"),
            computed("large", "roots[1] ** 2", "25", "arithmetic"),
            computed("squares", "small + large", "29", "arithmetic"),
            computed("checked", "squares", "29", "sum-of-sequence"),
        ],
        r"$29$",
        [
            wrong("$49$", "squares the sum", "squares", "arithmetic", "small + large + 2*10"),
            wrong("$69$", "adds the product twice to the square", "squares", "isolate",
                  "small + large + 40"),
            wrong("$-21$", "takes the difference of the squares", "squares", "arithmetic",
                  "small - large"),
            wrong("$7$", "does not square", "squares", "arithmetic", "sqrt(small) + sqrt(large)"),
        ],
        symbols=("x",),
    )  # fmt: skip


def hypotenuse() -> ItemCase:
    return case(
        "length in exact form",
        r"A ladder leans against a wall. Its foot is 2 m from the wall and its top 6 m above the "
        r"ground. A second ladder is twice as long. What is the difference of their lengths in "
        "exact form?",
        [
            given("foot", "2", "distance", unit="m"),
            given("top", "6", "height", unit="m"),
            given("factor", "2", "how much longer"),
            computed("square", "foot**2 + top**2", "40", "arithmetic", "equation"),
            computed("first", "sqrt(square)", "2*sqrt(10)", "isolate", "equation", unit="m"),
            computed("second", "factor * first", "4*sqrt(10)", "arithmetic", "rate", unit="m"),
            computed("gap", "second - first", "2*sqrt(10)", "arithmetic", unit="m"),
        ],
        r"$2\sqrt{10}$ m",
        [
            wrong("8 m", "adds the sides before the root", "first", "isolate", "foot + top"),
            wrong(r"$4\sqrt{2}$ m", "subtracts the squares", "square", "arithmetic",
                  "top**2 - foot**2"),
            wrong("40 m", "takes no root", "first", "isolate", "square"),
            wrong(r"$4\sqrt{10}$ m", "gives the longer ladder", "gap", "arithmetic", "second"),
        ],
    )  # fmt: skip


def probability_of_two() -> ItemCase:
    return case(
        "probability as a fraction",
        "A box holds 5 red and 3 blue balls. Two are drawn without being put back. What is the "
        "probability, as a fraction, that they have different colours?",
        [
            given("red", "5", "red balls"),
            given("blue", "3", "blue balls"),
            computed("all", "red + blue", "8", "arithmetic", "rate"),
            computed("red_blue", "red/all * blue/(all - 1)", "15/56", "arithmetic", "percentage"),
            computed("blue_red", "blue/all * red/(all - 1)", "15/56", "arithmetic", "percentage"),
            computed("mixed", "red_blue + blue_red", "15/28", "arithmetic"),
            computed("reduced", "mixed", "15/28", "isolate"),
        ],
        r"$\frac{15}{28}$",
        [
            wrong(r"$\frac{15}{56}$", "counts one order only", "mixed", "arithmetic", "red_blue"),
            wrong(r"$\frac{13}{28}$", "gives the probability of equal colours", "reduced",
                  "arithmetic", "1 - mixed"),
            wrong(r"$\frac{225}{3136}$", "multiplies the two orders", "mixed", "arithmetic",
                  "red_blue * blue_red"),
            wrong(r"$\frac{55}{112}$", "puts the first ball back once", "red_blue", "rate",
                  "red/all * blue/all - 15/64 + 25/112"),
        ],
    )  # fmt: skip


def two_mixtures() -> ItemCase:
    return case(
        "amount of a solution to be added",
        "A chemist has 40 ml of a 12% salt solution. Let v be the volume in millilitres of a 30% "
        "solution that must be added to get a 18% solution. What is v, and how much salt does the "
        "mixture hold?",
        [
            given("volume", "40", "first volume", unit="ml"),
            given("weak", "0.12", "first share"),
            given("strong", "0.3", "share of what is added"),
            given("goal", "0.18", "share wanted"),
            computed("salt", "weak * volume", "4.8", "percentage", "percentage"),
            computed("added", "salt + strong*v = goal*(volume + v)", "20", "isolate", "equation",
                     solve_for="v"),
            computed("mixture", "volume + added", "60", "arithmetic"),
            computed("holds", "goal * mixture", "10.8", "percentage", "percentage"),
            inferred("said", "v = 20, and the mixture holds 10.8 ml of salt", "isolate",
                     "added holds"),
        ],
        "v = 20, and the mixture holds 10.8 ml of salt",
        [
            wrong("v = 20, and the mixture holds 6 ml of salt", "counts the added salt only",
                  "holds", "percentage"),
            wrong("v = 24, and the mixture holds 11.52 ml of salt", "divides by the wrong share",
                  "added", "isolate"),
            wrong("v = 16, and the mixture holds 10.08 ml of salt", "leaves v out on one side",
                  "added", "equation"),
            wrong("v = 40, and the mixture holds 16.8 ml of salt", "takes the mean of the shares",
                  "added", "average"),
        ],
        symbols=("v",),
    )  # fmt: skip


def growth_factor() -> ItemCase:
    return case(
        "factor from a logarithm",
        "A colony has 500 cells and doubles every 3 hours. After how many hours does it have "
        "16,000 "
        "cells, and what is that in minutes?",
        [
            given("start", "500", "cells"),
            given("goal", "16000", "cells wanted"),
            given("period", "3", "hours of a doubling", unit="hours"),
            given("factor", "2", "growth in a period"),
            computed("ratio", "goal / start", "32", "arithmetic", "rate"),
            computed("doublings", "log(ratio, factor)", "5", "isolate", "equation"),
            computed("hours", "doublings * period", "15", "arithmetic", unit="hours"),
            computed("minutes", "hours * 60", "900", "arithmetic", unit="minutes"),
        ],
        "900 minutes",
        [
            wrong("300 minutes", "counts an hour for a doubling", "hours", "rate", "doublings"),
            wrong("5760 minutes", "takes the growth to be even", "doublings", "equation",
                  "ratio"),
            wrong("2880 minutes", "halves the ratio instead of the logarithm", "doublings",
                  "isolate", "ratio / factor"),
            wrong("720 minutes", "stops one doubling early", "doublings", "off-by-one",
                  "log(ratio, factor) - 1"),
        ],
    )  # fmt: skip


def remainder_of_a_sum() -> ItemCase:
    return case(
        "remainder of a long sum",
        "The numbers from 1 to 45 are added, and the sum is divided by seven. What remains?",
        [
            given("upper", "45", "last number"),
            given("divisor", "7", "divisor"),
            computed("doubled", "upper * (upper + 1)", "2070", "sum-of-sequence", "loop"),
            computed("total", "doubled / 2", "1035", "sum-of-sequence", "equation"),
            computed("whole", "total // divisor", "147", "arithmetic"),
            computed("used", "whole * divisor", "1029", "arithmetic"),
            computed("rest", "total - used", "6", "arithmetic"),
        ],
        "6",
        [
            wrong("5", "forgets to halve", "total", "sum-of-sequence", "doubled"),
            wrong("3", "leaves the last number out", "doubled", "off-by-one",
                  "(upper - 1) * upper + 0 * 46"),
            wrong("1029", "gives what is divided evenly", "rest", "arithmetic", "used"),
            wrong("147", "gives the quotient", "rest", "arithmetic", "whole"),
        ],
    )  # fmt: skip


def better_offer() -> ItemCase:
    return case(
        "which of two offers is cheaper, and by how much",
        "Offer one sells 24 cans for $18. Offer two sells 10 cans for $7.20 and takes a "
        "delivery fee "
        "of $1.20 for the whole order. A shop needs 240 cans. Judge which statement holds.",
        [
            given("cans_one", "24", "cans"),
            given("price_one", "18", "price"),
            given("cans_two", "10", "cans"),
            given("price_two", "7.2", "price"),
            given("fee", "1.2", "fee"),
            given("need", "240", "cans needed"),
            computed("each_one", "price_one / cans_one", "0.75", "arithmetic", "rate"),
            computed("each_two", "price_two / cans_two", "0.72", "arithmetic", "rate"),
            computed("all_one", "each_one * need", "180", "arithmetic"),
            computed("all_two", "each_two * need + fee", "174", "arithmetic"),
            computed("saved", "all_one - all_two", "6", "arithmetic", "average"),
            inferred("claim", "Offer two is cheaper by $6.00", "arithmetic", "saved"),
        ],
        "Offer two is cheaper by $6.00",
        [
            wrong("Offer two is cheaper by $7.20", "forgets the fee", "all_two", "arithmetic"),
            wrong("Offer one is cheaper by $6.00", "turns the difference round", "saved",
                  "arithmetic"),
            wrong("Offer one is cheaper by $21.60", "adds the fee to each ten cans", "all_two",
                  "rate"),
            wrong("Both cost the same", "rounds prices to the dollar", "each_one",
                  "early-rounding"),
        ],
    )  # fmt: skip


GOOD_ALGEBRA = (
    dose_by_weight,
    price_after_two_changes,
    meeting_trains,
    area_of_a_frame,
    compound_interest,
    quadratic_roots,
    hypotenuse,
    probability_of_two,
    two_mixtures,
    growth_factor,
    remainder_of_a_sum,
    better_offer,
)
