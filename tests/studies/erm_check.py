"""Ours beside R's eRm: conditional maximum likelihood of LSAT-6 and of a matrix with holes.

python tests/studies/erm_check.py        (Rscript with eRm; Debian: r-cran-erm)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill import fit_conditional
from support.lsat6 import lsat6
from support.simulated import respond

if TYPE_CHECKING:
    from benchfill import ResponseMatrix

SCRIPT = """
suppressPackageStartupMessages(library(eRm))
x <- as.matrix(read.csv(commandArgs(TRUE)[1], header = FALSE, na.strings = "NA"))
fit <- RM(x, sum0 = TRUE)
cat(sprintf("%.8f", c(-fit$betapar, fit$se.beta, fit$loglik)), sep = "\\n")
"""


def erm(matrix: ResponseMatrix) -> list[float]:
    """Difficulties, standard errors and log likelihood as eRm has them."""
    cells = np.where(matrix.n > 0, matrix.correct.astype(str), "NA")
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data.csv", Path(folder) / "fit.R"
        data.write_text("\n".join(",".join(row) for row in cells), encoding="utf-8")
        script.write_text(SCRIPT, encoding="utf-8")
        done = subprocess.run(
            ["Rscript", "--vanilla", str(script), str(data)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return [float(line) for line in done.stdout.split()]


def present() -> bool:
    """Whether Rscript and eRm are there."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "--vanilla", "-e", "stopifnot(requireNamespace('eRm', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Print both side by side."""
    if not present():
        print("Rscript with eRm is not here; nothing to compare with.")
        return
    rng = np.random.default_rng(2026)
    holes = respond(rng, rng.normal(0, 1.2, 400), np.linspace(-2, 2, 8), rng.random((400, 8)) > 0.1)
    for title, matrix in (("LSAT-6", lsat6()), ("400 x 8, 10% missing", holes)):
        ours, theirs = fit_conditional(matrix), erm(matrix)
        items = len(matrix.items)
        print(f"\n{title}\n\n| item | b, eRm | b, ours | se, eRm | se, ours |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for i in range(items):
            se = f"{theirs[items + i]:.5f} | {ours.b_se[i]:.5f}"
            print(f"| {i + 1} | {theirs[i]:.5f} | {ours.b[i]:.5f} | {se} |")
        print(f"\nlog likelihood: eRm {theirs[-1]:.5f}, ours {ours.log_likelihood:.5f}")


if __name__ == "__main__":
    main()
