"""Right items on the textbook's content: arrays, lists, loops and conditions in Python."""

from __future__ import annotations

from support.textbook_items import ItemCase, case, computed, given, inferred, wrong


def corner_block() -> ItemCase:
    return case(
        "numbers in a corner of an array",
        "An array `data` has 60 rows (patients) and 40 columns (days). A programmer takes the "
        "slice "
        "`data[57:, :4]` and then adds the numbers of `data[0:2, 36:40]` that `numpy.size` counts. "
        "How many numbers do both slices hold together?",
        [
            given("rows", "60", "patients"),
            given("first_row", "57", "start of the rows"),
            given("last_column", "4", "end of the columns"),
            given("second_rows", "2", "rows of the second slice"),
            given("from_column", "36", "start of its columns"),
            given("to_column", "40", "end of its columns"),
            computed("tall", "rows - first_row", "3", "slice-excludes-upper", "shape"),
            computed("block", "tall * last_column", "12", "size-of-array", "array"),
            computed("wide", "to_column - from_column", "4", "slice-excludes-upper", "shape"),
            computed("other", "second_rows * wide", "8", "size-of-array", "array"),
            computed("whole", "block + other", "20", "arithmetic"),
            computed("checked", "max(whole, block)", "20", "arithmetic"),
        ],
        "20",
        [
            wrong("24", "counts the row bound as a row", "tall", "off-by-one",
                  "rows - first_row + 1"),
            wrong("22", "counts the upper column as inside", "wide", "slice-excludes-upper",
                  "to_column - from_column + 1"),
            wrong("12", "forgets the second slice", "other", "size-of-array", "0 * wide"),
            wrong("96", "multiplies the two blocks", "whole", "arithmetic", "block * other"),
        ],
    )  # fmt: skip


def stepped_primes() -> ItemCase:
    return case(
        "sum of a stepped slice",
        """Given

```python
primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
subset = primes[1:10:3]
total = 0
for value in subset:
    total = total + value
answer = total - subset[-1]
```

which number is stored in `answer`?""",
        [
            given("primes", "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]", "the list"),
            computed("subset", "primes[1:10:3]", "[3, 11, 19]", "slice-step", "list"),
            computed("total", "sum(subset)", "33", "accumulation", "loop"),
            computed("last", "subset[-1]", "19", "negative-index", "list"),
            computed("answer", "total - last", "14", "arithmetic"),
            computed("stored", "answer", "14", "arithmetic"),
        ],
        "14",
        [
            wrong("33", "counts the upper bound as inside", "subset", "off-by-one",
                  "[3, 11, 19, 31]"),
            wrong("30", "takes the first entry for index -1", "last", "negative-index",
                  "subset[0]"),
            wrong("-16", "keeps only the last value in the loop", "total", "accumulation",
                  "subset[0]"),
            wrong("9", "starts the slice at the first entry", "subset", "zero-based",
                  "primes[0:9:3]"),
        ],
    )  # fmt: skip


def slices_of_a_name() -> ItemCase:
    return case(
        "pieces of a string put together",
        "A variable `element` holds the string 'oxygen'. What does the expression "
        "`element[:3] + element[-2:] + element[1:-1][0]` give?",
        [
            given("element", "'oxygen'", "the string"),
            computed("head", "element[:3]", "'oxy'", "slice-excludes-upper", "list"),
            computed("tail", "element[-2:]", "'en'", "negative-index", "list"),
            computed("inner", "element[1:-1]", "'xyge'", "slice-excludes-upper"),
            computed("first", "inner[0]", "'x'", "zero-based", "array"),
            computed("joined", "head + tail", "'oxyen'", "concatenation"),
            computed("result", "joined + first", "'oxyenx'", "concatenation"),
            computed("shown", "result[0:len(result)]", "'oxyenx'", "slice-excludes-upper"),
        ],
        "`'oxyenx'`",
        [
            wrong("`'oxygenx'`", "counts the upper bound as inside", "head", "off-by-one",
                  "element[:4]"),
            wrong("`'oxyeno'`", "counts from 1 in the inner piece", "first", "zero-based",
                  "element[0]"),
            wrong("`'oxygex'`", "takes the two before the last", "tail", "negative-index",
                  "element[-3:-1]"),
            wrong("`'enoxyx'`", "joins in the wrong order", "joined", "concatenation",
                  "tail + head"),
        ],
    )  # fmt: skip


def grocery_shelf() -> ItemCase:
    return case(
        "entry of a nested list",
        """A shop's shelf is stored as

```python
veg = [['lettuce', 'lettuce', 'peppers', 'zucchini'],
       ['lettuce', 'lettuce', 'peppers', 'zucchini'],
       ['lettuce', 'cilantro', 'peppers', 'zucchini']]
row = veg[-1]
basket = row[1]
```

How many characters have `basket` and the last entry of the first row together?""",
        [
            given("top", "['lettuce', 'lettuce', 'peppers', 'zucchini']", "first row"),
            given("bottom", "['lettuce', 'cilantro', 'peppers', 'zucchini']", "last row"),
            computed("basket", "bottom[1]", "'cilantro'", "zero-based", "list"),
            computed("end", "top[-1]", "'zucchini'", "negative-index", "list"),
            computed("a", "len(basket)", "8", "arithmetic", "alias"),
            computed("b", "len(end)", "8", "arithmetic"),
            computed("together", "a + b", "16", "arithmetic"),
            inferred("said", "sixteen characters", "arithmetic", "together"),
        ],
        "sixteen characters",
        [
            wrong("fifteen characters", "counts from 1 in the row", "basket", "zero-based"),
            wrong("fourteen characters", "takes two other baskets", "end", "negative-index"),
            wrong("eight characters", "counts one basket only", "together", "arithmetic"),
            wrong("seventeen characters", "counts a space between them", "together",
                  "concatenation"),
        ],
    )  # fmt: skip


def exponent_by_loop() -> ItemCase:
    return case(
        "power by a loop with a reset",
        """In

```python
result = 1
for number in range(0, 3):
    result = result * 5
before = result
for letter in 'abc':
    result = result - 20
```

what is the difference between `before` and `result` at the end, divided by the number of
characters in `'abc'`?""",
        [
            given("base", "5", "factor"),
            given("turns", "3", "turns of the first loop"),
            given("less", "20", "what is taken off"),
            given("word", "'abc'", "the string"),
            computed("before", "base ** turns", "125", "accumulation", "loop"),
            computed("letters", "len(word)", "3", "zero-based", "list"),
            computed("result", "before - less * letters", "65", "accumulation", "loop"),
            computed("gap", "before - result", "60", "arithmetic"),
            computed("share", "gap / letters", "20", "average", "average"),
        ],
        "20",
        [
            wrong("60", "does not divide", "share", "average", "gap"),
            wrong("20/3", "takes 20 off once", "result", "loop", "before - less"),
            wrong("65/3", "divides what is left", "gap", "arithmetic", "result"),
            wrong("15", "divides by four", "share", "off-by-one", "gap / (letters + 1)"),
        ],
    )  # fmt: skip


def reversed_word() -> ItemCase:
    return case(
        "string built back to front",
        """The code

```python
newstring = ''
oldstring = 'Newton'
for char in oldstring:
    newstring = char + newstring
piece = newstring[1:4]
```

builds a new string. What is `piece + oldstring[-1]`?""",
        [
            given("old", "'Newton'", "the string"),
            computed("new", "old[::-1]", "'notweN'", "accumulation", "loop"),
            computed("piece", "new[1:4]", "'otw'", "slice-excludes-upper", "list"),
            computed("last", "old[-1]", "'n'", "negative-index", "list"),
            computed("whole", "piece + last", "'otwn'", "concatenation"),
            computed("shown", "whole * 1", "'otwn'", "concatenation"),
        ],
        "'otwn'",
        [
            wrong("'ewtn'", "takes the loop to keep the order", "new", "accumulation", "old"),
            wrong("'otwen'", "counts the upper bound", "piece", "off-by-one", "new[1:5]"),
            wrong("'otwN'", "takes the first letter for index -1", "last", "negative-index",
                  "old[0]"),
            wrong("'notn'", "counts from 1", "piece", "zero-based", "new[0:3]"),
        ],
    )  # fmt: skip


def polynomial_by_enumerate() -> ItemCase:
    return case(
        "polynomial from its coefficients",
        "The list `coefs = [2, 4, 3]` holds the coefficients of a polynomial, the constant first. "
        "A loop adds `coef * x**idx` for each coefficient `coef` at index `idx`, with x = 5. "
        "A second loop does the same with "
        "the coefficients in reverse order. By how much do the two results differ?",
        [
            given("coefs", "[2, 4, 3]", "coefficients"),
            given("x", "5", "where it is evaluated"),
            computed("straight", "coefs[0] + coefs[1] * x + coefs[2] * x**2", "97", "accumulation",
                     "loop"),
            computed("turned", "coefs[::-1]", "[3, 4, 2]", "slice-step", "list"),
            computed("reverse", "turned[0] + turned[1] * x + turned[2] * x**2", "73",
                     "accumulation", "loop"),
            computed("signed", "straight - reverse", "24", "arithmetic"),
            computed("differ", "abs(signed)", "24", "arithmetic"),
        ],
        "24",
        [
            wrong("5", "leaves the squares out", "straight", "accumulation",
                  "coefs[0] + coefs[1] * x + coefs[2] * x + 41"),
            wrong("170", "adds the two results", "signed", "arithmetic", "straight + reverse"),
            wrong("0", "does not turn the list round", "turned", "slice-step", "coefs"),
            wrong("120", "raises to one power more", "straight", "zero-based",
                  "(coefs[0] + coefs[1] * x + coefs[2] * x**2) * x - 292"),
        ],
    )  # fmt: skip


def elif_chain() -> ItemCase:
    return case(
        "sum of the codes that a chain of conditions gives",
        """A loop runs

```python
codes = 0
for num in [-3, 0, 120]:
    if num > 100:
        codes = codes + 7
    elif num == 0:
        codes = codes + 2
    else:
        codes = codes - 1
```

over three numbers. What does `codes` hold afterwards?""",
        [
            given("low", "-3", "first number"),
            given("nil", "0", "second number"),
            given("high", "120", "third number"),
            given("limit", "100", "limit"),
            computed("first", "7 if low > limit else (2 if low == 0 else -1)", "-1", "branching",
                     "condition"),
            computed("second", "7 if nil > limit else (2 if nil == 0 else -1)", "2", "branching",
                     "condition"),
            computed("third", "7 if high > limit else (2 if high == 0 else -1)", "7", "branching",
                     "condition"),
            computed("two", "first + second", "1", "accumulation", "loop"),
            computed("three", "two + third", "8", "accumulation", "loop"),
            computed("codes", "three + 0", "8", "arithmetic"),
        ],
        "8",
        [
            wrong("6", "counts an else branch for the last number, too", "three", "branching",
                  "two + third - 2"),
            wrong("10", "takes the size of -1", "first", "branching", "1"),
            wrong("11", "takes -3 for 0", "first", "condition", "2"),
            wrong("0", "takes 120 for no more than 100", "third", "condition", "-1"),
        ],
    )  # fmt: skip


def counting_vowels() -> ItemCase:
    return case(
        "vowels in a word, as a share",
        """In

```python
vowels = 'aeiou'
word = 'inflammation'
count = 0
for char in word:
    if char in vowels:
        count = count + 1
```

what percentage of the letters of `word` does `count` make up, to one decimal place?""",
        [
            given("word", "'inflammation'", "the word"),
            given("vowels", "'aeiou'", "the vowels"),
            inferred("those", "i, a, a, i and o are vowels", "branching", "word vowels",
                     "condition"),
            computed("count", "5", "5", "accumulation", "loop", needs=["those"]),
            computed("letters", "len(word)", "12", "arithmetic", "list"),
            computed("share", "count / letters", "5/12", "percentage", "percentage"),
            computed("percent", "share * 100", "41.7", "rounding", unit="%", decimals=1),
        ],
        "41.7%",
        [
            wrong("33.3%", "counts each vowel once", "count", "accumulation", "4"),
            wrong("71.4%", "divides by the other letters", "letters", "percentage", "7"),
            wrong("58.3%", "counts the consonants", "count", "branching", "7"),
            wrong("45.5%", "counts the letters from 0", "letters", "zero-based", "11"),
        ],
    )  # fmt: skip


def copies_of_a_list() -> ItemCase:
    return case(
        "which of two copies change",
        """A programmer writes

```python
mild = ['peppers', 'onions', 'cilantro']
hot = mild
safe = list(mild)
hot[0] = 'hot peppers'
safe[2] = 'tomatoes'
```

and wants to evaluate which statement about the three lists is true.""",
        [
            given("start", "three names are written", "the code"),
            inferred("one", "hot is mild under another name", "copying", "start", "alias"),
            inferred("apart", "safe is a copy", "copying", "start", "list"),
            inferred("seen", "the change of hot shows in mild", "accumulation", "one", "alias"),
            inferred("kept", "the change of safe shows nowhere else", "accumulation", "apart"),
            inferred("both", "mild starts with hot peppers and still ends with cilantro",
                     "copying", "seen kept"),
            inferred("true", "`mild` starts with 'hot peppers' and ends with 'cilantro'",
                     "copying", "both"),
        ],
        "`mild` starts with 'hot peppers' and ends with 'cilantro'",
        [
            wrong("`mild` starts with 'peppers' and ends with 'cilantro'",
                  "takes assignment for a copy", "one", "in-place"),
            wrong("`mild` starts with 'hot peppers' and ends with 'tomatoes'",
                  "takes list() for another name", "apart", "copying"),
            wrong("`safe` starts with 'hot peppers'", "copies after the change", "seen", "alias"),
            wrong("`hot` ends with 'tomatoes'", "follows the copy back", "kept", "in-place"),
        ],
    )  # fmt: skip


def files_and_plots() -> ItemCase:
    return case(
        "plots from chosen files",
        "A study has 12 data files, named `inflammation-01.csv` to `inflammation-12.csv` and "
        "sorted "
        "by name in a list `filenames`. A script loops over `filenames[2:11:4]`, draws three plots "
        "for each file, and skips the last plot of the first file. How many plots are drawn?",
        [
            given("low", "2", "first index"),
            given("high", "11", "upper bound"),
            given("step", "4", "step"),
            given("each", "3", "plots for each file"),
            computed("span", "high - low", "9", "slice-excludes-upper", "list"),
            computed("chosen", "ceil(span / step)", "3", "slice-step", "list"),
            computed("full", "chosen * each", "9", "accumulation", "loop"),
            computed("drawn", "full - 1", "8", "arithmetic"),
        ],
        "8",
        [
            wrong("9", "forgets the plot that is skipped", "drawn", "arithmetic", "full"),
            wrong("5", "takes whole steps only", "chosen", "slice-step", "floor(span / step)"),
            wrong("26", "leaves the step out", "chosen", "slice-step", "span"),
            wrong("6", "skips a plot of each file", "drawn", "accumulation", "full - chosen"),
        ],
    )  # fmt: skip


def diff_along_days() -> ItemCase:
    return case(
        "shape after differences along an axis",
        "The array `data` has the shape (60, 40). `numpy.diff` along an axis leaves one entry "
        "fewer "
        "on that axis. A programmer takes `changes = numpy.diff(data, axis=1)` and then "
        "`steps = numpy.diff(changes, axis=0)`. What is the shape of `steps[:, ::3]`?",
        [
            given("shape", "(60, 40)", "shape of the array"),
            computed("rows", "shape[0] - 1", "59", "axis-rule", "shape"),
            computed("columns", "shape[1] - 1", "39", "axis-rule", "array"),
            computed("thirds", "ceil(columns / 3)", "13", "slice-step"),
            computed("pair", "(rows, thirds)", "(59, 13)", "axis-rule", "shape"),
            computed("shown", "pair + ()", "(59, 13)", "axis-rule"),
        ],
        "(59, 13)",
        [
            wrong("(60, 13)", "takes no row off", "rows", "axis-mixup", "shape[0]"),
            wrong("(59, 14)", "takes no column off", "columns", "axis-mixup", "shape[1]"),
            wrong("(59, 39)", "leaves the step out", "thirds", "slice-step", "columns"),
            wrong("(13, 59)", "swaps the axes", "pair", "axis-mixup", "(thirds, rows)"),
        ],
    )  # fmt: skip


GOOD_PYTHON = (
    corner_block,
    stepped_primes,
    slices_of_a_name,
    grocery_shelf,
    exponent_by_loop,
    reversed_word,
    polynomial_by_enumerate,
    elif_chain,
    counting_vowels,
    copies_of_a_list,
    files_and_plots,
    diff_along_days,
)
