"""Small programs about torch.nn and what the reference prints for them.

Each file of nn_cases/ holds blocks: a title `## n`, the warnings to expect (`warns Class: text`),
and a doctest. Numbers are compared with a tolerance, names of autograd nodes are not compared.
"""
import copy
import doctest
import pathlib
import pickle
import re
import warnings

import pytest

import torch
from torch import nn

CASES = pathlib.Path(__file__).parent / "nn_cases"
NUMBER = re.compile(r"(?<![A-Za-z_\d])-?\d+\.\d*(?:e[+-]\d+)?")


def blocks():
    for path in sorted(CASES.glob("*.txt")):
        for block in path.read_text().split("## ")[1:]:
            number, _, body = block.partition("\n")
            yield pytest.param(body, id=f"{path.stem}-{number}")


def normalized(text):
    """(text without numbers and white space, the numbers)."""
    text = re.sub(r"grad_fn=<\w+>", "grad_fn", text)
    numbers = [float(number) for number in NUMBER.findall(text)]
    return re.sub(r"\s+", "", NUMBER.sub("#", text)), numbers


class Checker(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        want = want.replace("<BLANKLINE>", "")
        (want_text, want_numbers), (got_text, got_numbers) = normalized(want), normalized(got)
        return want_text == got_text and got_numbers == pytest.approx(
            want_numbers, rel=1e-3, abs=1.1e-4)


def warned(records):
    return [f"{record.category.__name__}: {record.message}" for record in records]


@pytest.mark.parametrize("body", list(blocks()))
def test_case(body):
    expected = re.findall(r"^warns (.*)$", body, re.MULTILINE)
    source = re.sub(r"^warns .*$\n", "", body, flags=re.MULTILINE)
    names = {"torch": torch, "nn": nn, "P": nn.Parameter, "copy": copy, "pickle": pickle}
    test = doctest.DocTestParser().get_doctest(source, names, "case", None, 0)
    report = []
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        doctest.DocTestRunner(checker=Checker(), verbose=False).run(test, out=report.append)
    assert not report, "".join(report)
    assert warned(records) == expected
