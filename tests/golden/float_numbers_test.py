#!/usr/bin/env python3
"""Holds the numbers of machines with a tensor core to exact arithmetic. Needs nothing but Python itself.

Draws programs for an array of 4 x 4 cells: products in one, three and six passes whose sums are cut, element-wise
operations of float32 and of whole numbers, functions and reductions of float32. Every result is computed here from
docs/isa.md alone, with fractions and with decimals of 60 digits, and must have the same bits in both engines.

usage: float_numbers_test.py SIM [--seed SEED] [--programs COUNT]
"""

import argparse
import decimal
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

SIDE = 4  # rows, columns and lanes
ROWS = 24  # of operands
NAN = 0x7FC00000
INFINITY = 0x7F800000
SIGN = 0x80000000
SMALLEST = Fraction(1, 2**126)  # normal number
MACHINE = {
    "schema": "sim.machine/1",
    "name": "four_lanes",
    "family": "tensor_core",
    "matrix_unit": {"rows": SIDE, "columns": SIDE},
    "vector_unit": {"lanes": SIDE, "sublanes": 2},
    "vector_memory": {"rows": 4096},
    "hbm": {"bytes": 1 << 20},
}

decimal.getcontext().prec = 60


# Numbers: a word of 32 bits is a float32.


def is_nan(word: int) -> bool:
    return (word & ~SIGN) > INFINITY


def is_infinite(word: int) -> bool:
    return (word & ~SIGN) == INFINITY


def fraction_of(word: int) -> Fraction:
    """Of a word that is a finite number."""
    return Fraction(struct.unpack("<f", struct.pack("<I", word))[0])


def nearest(exact: Fraction, sign_of_zero: int = 0, bits: int = 24) -> int:
    """The nearest number with so many bits of significance, halves to the even one; a subnormal one is zero."""
    if exact == 0:
        return sign_of_zero
    sign = SIGN if exact < 0 else 0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - bits + 1)
    number = round(size / step) * step  # Python rounds halves to the even number
    if number < SMALLEST:
        return sign
    if number >= Fraction(2) ** 128:
        return sign | INFINITY
    return sign | struct.unpack("<I", struct.pack("<f", float(number)))[0]


def fma(a: int, b: int, c: int) -> int:
    """a * b + c, rounded once."""
    if is_nan(a) or is_nan(b) or is_nan(c):
        return NAN
    sign = (a ^ b) & SIGN
    if is_infinite(a) or is_infinite(b):
        if a & ~SIGN == 0 or b & ~SIGN == 0:
            return NAN
        return NAN if is_infinite(c) and (c & SIGN) != sign else sign | INFINITY
    if is_infinite(c):
        return c
    exact = fraction_of(a) * fraction_of(b) + fraction_of(c)
    # Zero of two zeros or of equal numbers: negative only if both are.
    return nearest(exact, sign & c & SIGN)


ONE = 0x3F800000
MINUS_ONE = 0xBF800000


def add(a: int, b: int) -> int:
    return fma(a, ONE, b)


def subtract(a: int, b: int) -> int:
    # Not of a NaN's sign: every NaN is the same.
    return fma(b, MINUS_ONE, a)


def multiply(a: int, b: int) -> int:
    # The sign of a zero is that of the product.
    return fma(a, b, (a ^ b) & SIGN)


def divide(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b):
        return NAN
    sign = (a ^ b) & SIGN
    if is_infinite(a):
        return NAN if is_infinite(b) else sign | INFINITY
    if b & ~SIGN == 0:
        return NAN if a & ~SIGN == 0 else sign | INFINITY
    if is_infinite(b):
        return sign
    return nearest(fraction_of(a) / fraction_of(b), sign)


def key(word: int) -> tuple:
    """Orders numbers, +0 above -0."""
    if is_infinite(word):
        return (-1, 0, 0) if word & SIGN else (1, 0, 0)
    return (0, fraction_of(word), 0 if word & SIGN else 1)


def maximum(a: int, b: int) -> int:
    return NAN if is_nan(a) or is_nan(b) else max(a, b, key=key)


def minimum(a: int, b: int) -> int:
    return NAN if is_nan(a) or is_nan(b) else min(a, b, key=key)


def compares(a: int, b: int) -> int:
    """-1, 0 or 1, as numbers compare."""
    x, y = key(a)[:2], key(b)[:2]
    return (x > y) - (x < y)


def truth(condition):
    return lambda a, b: int(not is_nan(a) and not is_nan(b) and condition(compares(a, b)))


def whole(rounding):
    def apply(word: int) -> int:
        if is_nan(word):
            return NAN
        if is_infinite(word):
            return word
        return nearest(Fraction(rounding(fraction_of(word))), word & SIGN)

    return apply


def part(word: int, number: int) -> int:
    """Part 0 of a number is its nearest bfloat16, part 1 that of the rest, part 2 that of what is left then."""
    if is_nan(word):
        return NAN if number == 0 else 0
    rest = word
    for each in range(number + 1):
        first = rest if is_infinite(rest) else nearest(fraction_of(rest), rest & SIGN, bits=8)
        if is_infinite(first):
            return first if each == number else 0
        if each == number:
            return first
        rest = nearest(fraction_of(rest) - fraction_of(first))
    raise AssertionError


def remainder(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b) or is_infinite(a) or b & ~SIGN == 0:
        return NAN
    if is_infinite(b):
        return a
    rest = abs(fraction_of(a)) % abs(fraction_of(b))
    return nearest(-rest if a & SIGN else rest, a & SIGN)


def round_half_away(exact: Fraction) -> int:
    whole = math.floor(abs(exact) + Fraction(1, 2))
    return -whole if exact < 0 else whole


def round_to_float16(word: int) -> int:
    if is_nan(word) or is_infinite(word):
        return NAN if is_nan(word) else word
    exact, sign = fraction_of(word), word & SIGN
    # Eleven bits, of which those below 2^-24 are none.
    size = abs(exact)
    exponent = -14
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - 10)
    number = round(size / step) * step
    return sign | INFINITY if number >= 2**16 else sign | nearest(number)


def signed(word: int) -> int:
    """Of two's complement."""
    return word - 2**32 if word & SIGN else word


def quotient(a: int, b: int) -> int:
    """Towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide_int(a: int, b: int) -> int:
    return 2**32 - 1 if b == 0 else quotient(signed(a), signed(b)) % 2**32


def remainder_int(a: int, b: int) -> int:
    return a if b == 0 else (signed(a) - quotient(signed(a), signed(b)) * signed(b)) % 2**32


def float_to(low: int, high: int):
    def apply(word: int) -> int:
        if is_nan(word):
            return 0
        if is_infinite(word):
            return (low if word & SIGN else high) % 2**32
        return min(max(math.trunc(fraction_of(word)), low), high) % 2**32

    return apply


BINARY = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "remainder": remainder,
    "maximum": maximum,
    "minimum": minimum,
    "less": truth(lambda order: order < 0),
    "less_equal": truth(lambda order: order <= 0),
    "equal": truth(lambda order: order == 0),
}
UNARY = {
    "negate": lambda word: NAN if is_nan(word) else word ^ SIGN,
    "absolute": lambda word: NAN if is_nan(word) else word & ~SIGN,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "round_to_even": whole(round),
    "round_to_bfloat16": lambda word: part(word, 0),
    "round_half_away": whole(round_half_away),
    "round_to_float16": round_to_float16,
    "float_to_int": float_to(-(2**31), 2**31 - 1),
    "float_to_uint": float_to(0, 2**32 - 1),
}
INTEGER_BINARY = {
    "add_int": lambda a, b: (a + b) % 2**32,
    "subtract_int": lambda a, b: (a - b) % 2**32,
    "multiply_int": lambda a, b: a * b % 2**32,
    "multiply_high_uint": lambda a, b: a * b >> 32,
    "divide_int": divide_int,
    "remainder_int": remainder_int,
    "divide_uint": lambda a, b: 2**32 - 1 if b == 0 else a // b,
    "remainder_uint": lambda a, b: a if b == 0 else a % b,
    "maximum_int": lambda a, b: max(a, b, key=signed),
    "minimum_int": lambda a, b: min(a, b, key=signed),
    "maximum_uint": max,
    "minimum_uint": min,
    "less_int": lambda a, b: int(signed(a) < signed(b)),
    "less_uint": lambda a, b: int(a < b),
    "shift_left": lambda a, b: a << b & (2**32 - 1) if b < 32 else 0,
    "shift_right": lambda a, b: a >> b if b < 32 else 0,
    "shift_right_arithmetic": lambda a, b: (signed(a) >> min(b, 31)) % 2**32,
}
INTEGER_UNARY = {
    "leading_zeros": lambda word: 32 - word.bit_length(),
    "count_ones": lambda word: bin(word).count("1"),
    "int_to_float": lambda word: nearest(Fraction(signed(word))),
    "uint_to_float": lambda word: nearest(Fraction(word)),
}


# Functions: float32 next to the real number, which decimals know to 50 digits.


def exp(x):
    return x.exp()


def tanh(x):
    if abs(x) < decimal.Decimal("1e-15"):
        return x - x**3 / 3
    twice = (2 * x).exp()
    return (twice - 1) / (twice + 1)


def erf(x):
    if abs(x) > 6:
        return decimal.Decimal(1).copy_sign(x)
    term, total, k = x, x, 0
    while abs(term) > abs(total) * decimal.Decimal("1e-45"):
        k += 1
        term = -term * x * x / k
        total += term / (2 * k + 1)
    pi = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    return 2 * total / pi.sqrt()


# So long that the largest angle, with 39 digits in front of the point, leaves 41 behind it.
PI = decimal.Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862090")


def sine(x, turned=0):
    """By its series, behind the nearest quarter of a circle; `turned` quarters further."""
    with decimal.localcontext() as context:
        context.prec = 100
        quarter = (2 * x / PI).to_integral_value()
        rest = x - quarter * PI / 2
        quarter += turned
        term = rest if quarter % 2 == 0 else decimal.Decimal(1)
        total, k = term, 1 if quarter % 2 == 0 else 0
        while abs(term) > abs(total) * decimal.Decimal("1e-45"):
            term = -term * rest * rest / ((k + 1) * (k + 2))
            total += term
            k += 2
        return total if quarter % 4 in (0, 1, -3) else -total


def cube_root(x):
    root = (abs(x).ln() / 3).exp()
    return root.copy_sign(x)


def arc_tangent(x):
    """Of a number that is not negative: by its series, of an angle that was halved."""
    halvings = 0
    while x > decimal.Decimal("0.1"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    power, total, k = x, x, 1
    while power > total * decimal.Decimal("1e-50"):
        power *= x * x
        k += 2
        total += power / k if k % 4 == 1 else -power / k
    return total * 2**halvings


def decimal_of(word: int) -> decimal.Decimal:
    exact = fraction_of(word)
    return decimal.Decimal(exact.numerator) / decimal.Decimal(exact.denominator)


def angle(height: int, across: int):
    """The word of a NaN, or the exact angle of a point; zeros and infinities as IEEE 754 says."""
    if is_nan(height) or is_nan(across):
        return NAN
    if is_infinite(height):
        turned = PI / 4 if is_infinite(across) else PI / 2
    elif is_infinite(across) or height & ~SIGN == 0:
        turned = decimal.Decimal(0)
    elif across & ~SIGN == 0:
        turned = PI / 2
    else:
        turned = arc_tangent(abs(decimal_of(height) / decimal_of(across)))
    if across & SIGN:
        turned = PI - turned
    return height & SIGN if turned == 0 else turned.copy_sign(-1 if height & SIGN else 1)


def power(base: int, exponent: int):
    """The word of a zero, an infinity or a NaN, or the exact power; as IEEE 754 says."""
    if exponent & ~SIGN == 0 or base == ONE:
        return ONE
    if is_nan(base) or is_nan(exponent):
        return NAN
    is_large = is_infinite(exponent)
    is_whole = is_large or fraction_of(exponent).denominator == 1
    is_odd = not is_large and is_whole and fraction_of(exponent).numerator % 2 == 1
    sign = base & SIGN if is_odd else 0
    size = base & ~SIGN
    grows = not exponent & SIGN
    if size == 0 or is_infinite(base):
        return sign | (INFINITY if grows == (size != 0) else 0)
    if base & SIGN and not is_whole:
        return NAN
    if size == ONE:
        return sign | ONE
    if is_large:
        return INFINITY if grows == (size > ONE) else 0
    logarithm = decimal_of(exponent) * decimal_of(size).ln()
    if abs(logarithm) > 100:
        return sign | (INFINITY if logarithm > 0 else 0)
    return logarithm.exp().copy_sign(-1 if sign else 1)


FUNCTIONS_OF_TWO = {"arc_tangent": angle, "power": power}
FUNCTIONS = {
    "tangent": (lambda x: sine(x) / sine(x, 1), -3e38, 3e38),
    "cube_root": (cube_root, -3e38, 3e38),
    "sine": (sine, -3e38, 3e38),
    "cosine": (lambda x: sine(x, 1), -3e38, 3e38),
    "exp": (exp, -80, 80),
    "expm1": (lambda x: x + x * x / 2 + x**3 / 6 if abs(x) < decimal.Decimal("1e-15") else x.exp() - 1, -80, 80),
    "log": (lambda x: x.ln(), 0, 1e30),
    "log1p": (lambda x: x - x * x / 2 + x**3 / 3 if abs(x) < decimal.Decimal("1e-15") else (1 + x).ln(), -0.999, 1e30),
    "tanh": (tanh, -40, 40),
    "logistic": (lambda x: 1 / (1 + (-x).exp()), -80, 80),
    "erf": (erf, -6, 6),
    "sqrt": (lambda x: x.sqrt(), 0, 1e30),
    "rsqrt": (lambda x: 1 / x.sqrt(), 0, 1e30),
}


def may_be(word: int, exact: decimal.Decimal) -> bool:
    """Whether a word is the nearest float32 to a number that is as near to the exact one as docs/isa.md says."""
    if is_nan(word):
        return False
    near = Fraction(exact)
    slack = abs(near) / 2**45
    return word in (nearest(near - slack), nearest(near + slack))


def next_to(exact: decimal.Decimal):
    return lambda word: may_be(word, exact)


# Reductions: by halves in blocks of as many numbers as there are lanes.


def reduce(combine, numbers: list[int]) -> int:
    total = None
    for first in range(0, len(numbers), SIDE):
        block = numbers[first : first + SIDE]
        while len(block) > 1:
            half = 1
            while half < (len(block) + 1) // 2:
                half *= 2
            block = [
                combine(block[i], block[i + half]) if i + half < len(block) else block[i] for i in range(half)
            ]
        total = block[0] if total is None else combine(total, block[0])
    return total


REDUCTIONS = {"sum": add, "product": multiply, "maximum": maximum, "minimum": minimum}

# Passes of a product, as (part of the element, part of the weight), in their order.
PASSES = {
    "default": [(0, 0)],
    "high": [(1, 0), (0, 1), (0, 0)],
    "highest": [(2, 0), (1, 1), (0, 2), (1, 0), (0, 1), (0, 0)],
}


def product(rows: list[list[int]], weights: list[list[int]], passes: list[tuple[int, int]]) -> list[list[int]]:
    """Sums of k in order, cut every SIDE; each cut is a series of passes, whose sums are added in order."""
    results = []
    for row in rows:
        sums = []
        for column in range(len(weights[0])):
            total = None
            for first in range(0, len(row), SIDE):
                for of_element, of_weight in passes:
                    sum_of_pass = 0
                    for k in range(first, min(first + SIDE, len(row))):
                        sum_of_pass = fma(part(row[k], of_element), part(weights[k][column], of_weight), sum_of_pass)
                    total = sum_of_pass if total is None else add(total, sum_of_pass)
            sums.append(total)
        results.append(sums)
    return results


# Programs.


def draw_word(draw: random.Random) -> int:
    """A settled float32: mostly of a moderate size, at times zero, infinite, not a number, or at an end."""
    kind = draw.random()
    if kind < 0.06:
        return draw.choice([0, SIGN, INFINITY, SIGN | INFINITY, NAN, 0x00800000, 0x80800000, 0x7F7FFFFF, ONE])
    exponent = draw.randint(110, 144) if kind < 0.8 else draw.randint(1, 254)
    # Few bits make exact halves, which rounding must take to the even number.
    fraction = draw.getrandbits(23) & draw.choice([0x7FFFFF, 0x7F0000, 0x7F8000, 0x700000])
    return draw.choice([0, SIGN]) | exponent << 23 | fraction


def draw_argument(draw: random.Random, low: float, high: float) -> int:
    while True:
        word = draw_word(draw)
        if not is_nan(word) and not is_infinite(word) and low < float(fraction_of(word)) < high and word & ~SIGN:
            return word


def draw_integer(draw: random.Random) -> int:
    """A whole number of any size: small ones, and those next to an end, of both signs."""
    if draw.random() < 0.1:
        return draw.choice([0, 1, 2**32 - 1, SIGN, SIGN - 1, 31, 32, 33])
    return draw.choice([1, -1]) * (draw.getrandbits(32) >> draw.randrange(32)) % 2**32


def draw_base(draw: random.Random) -> int:
    """A float32 with powers and angles that are no limits: often a whole number or next to one."""
    kind = draw.random()
    if kind < 0.5:
        return draw_word(draw)
    if kind < 0.7:
        return nearest(Fraction(draw.randint(-40, 40)))
    return draw.choice([0, SIGN]) | draw.randint(119, 134) << 23 | draw.getrandbits(23)


def numbers(draw: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[draw_word(draw) for _ in range(columns)] for _ in range(rows)]


def text_of(draw: random.Random):
    """A program, and for each row of its output the name and the expected words, or a function that judges them."""
    sent: list[int] = []
    work: list[tuple[str, str]] = []
    chains: list[str] = []
    expected: list[tuple[str, list]] = []

    def send(matrix: list[list[int]]) -> int:
        first = len(sent) // SIDE
        for panel in range(0, len(matrix[0]), SIDE):
            for row in matrix:
                words = row[panel : panel + SIDE]
                sent.extend(words + [0] * (SIDE - len(words)))
        return first

    results_at = 2048  # rows of vector memory; behind what is sent

    def result(name: str, rows: list[list]) -> int:
        first = results_at + len(expected)
        expected.extend((f"{name}, row {i}", row) for i, row in enumerate(rows))
        return first

    for precision, passes in PASSES.items():
        depth, columns = draw.randint(1, 3 * SIDE), draw.randint(1, SIDE)
        elements, weights = numbers(draw, 6, depth), numbers(draw, depth, columns)
        elements_at, weights_at = send(elements), send(weights)
        to = result(f"product, {precision}, depth {depth}", product(elements, weights, passes))
        accumulate = ""
        for cut, first in enumerate(range(0, depth, SIDE)):
            size = f"depth={min(SIDE, depth - first)} columns={columns}"
            for of_element, of_weight in passes:
                work.append(("weights", f"load_weights src={weights_at + first} {size} part={of_weight}"))
                at = elements_at + cut * len(elements)
                work.append(("matrix", f"product dst={to} src={at} rows=6 {size} part={of_element}{accumulate}"))
                accumulate = " accumulate"
    left, right = numbers(draw, ROWS, SIDE), numbers(draw, ROWS, SIDE)
    left_at, right_at = send(left), send(right)
    for name, apply in BINARY.items():
        to = result(name, [[apply(a, b) for a, b in zip(*rows)] for rows in zip(left, right)])
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} a={left_at} b={right_at}"))
        chains.append(f".chain {name}; .source rows; .source rows; .step {name} 0 1; .result 2")
    for name, apply in UNARY.items():
        to = result(name, [[apply(a) for a in row] for row in left])
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} a={left_at}"))
        chains.append(f".chain {name}; .source rows; .step {name} 0; .result 1")
    integers = [[[draw_integer(draw) for _ in range(SIDE)] for _ in range(ROWS)] for _ in range(2)]
    first_at, second_at = send(integers[0]), send(integers[1])
    for name, apply in INTEGER_BINARY.items():
        to = result(name, [[apply(a, b) for a, b in zip(*rows)] for rows in zip(*integers)])
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} a={first_at} b={second_at}"))
        chains.append(f".chain {name}; .source rows; .source rows; .step {name} 0 1; .result 2")
    for name, apply in INTEGER_UNARY.items():
        to = result(name, [[apply(a) for a in row] for row in integers[0]])
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} a={first_at}"))
        chains.append(f".chain {name}; .source rows; .step {name} 0; .result 1")
    for name, function in FUNCTIONS_OF_TWO.items():
        pairs = [[[draw_base(draw) for _ in range(SIDE)] for _ in range(ROWS)] for _ in range(2)]
        exact = [[function(a, b) for a, b in zip(*rows)] for rows in zip(*pairs)]
        to = result(name, [[x if isinstance(x, int) else next_to(x) for x in row] for row in exact])
        at = f"a={send(pairs[0])} b={send(pairs[1])}"
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} {at}"))
        chains.append(f".chain {name}; .source rows; .source rows; .step {name} 0 1; .result 2")
    for name, (function, low, high) in FUNCTIONS.items():
        arguments = [[draw_argument(draw, low, high) for _ in range(SIDE)] for _ in range(ROWS)]

        def judge(word: int, at: int, function=function) -> bool:
            x = fraction_of(at)
            return may_be(word, function(decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)))

        rows = [[lambda word, at=at, judge=judge: judge(word, at) for at in row] for row in arguments]
        to = result(name, rows)
        at = send(arguments)
        work.append(("vector", f"chain {len(chains)} rows={ROWS} columns={SIDE} dst={to} a={at}"))
        chains.append(f".chain {name}; .source rows; .step {name} 0; .result 1")
    for name, combine in REDUCTIONS.items():
        rows, columns = draw.randint(1, 11), draw.randint(1, 11)
        down, across = numbers(draw, rows, SIDE), numbers(draw, 3, columns)
        to = result(f"{name} of {rows} rows", [[reduce(combine, list(column)) for column in zip(*down)]])
        work.append(("vector", f"reduce_rows {name} dst={to} src={send(down)} rows={rows} columns={SIDE}"))
        to = result(f"{name} of {columns} lanes", [[reduce(combine, row)] * SIDE for row in across])
        work.append(("cross_lane", f"reduce_lanes {name} dst={to} src={send(across)} rows=3 columns={columns}"))

    sent_rows, rows = len(sent) // SIDE, len(expected)
    assert sent_rows <= results_at and results_at + rows <= MACHINE["vector_memory"]["rows"]
    units = ["weights", "matrix", "vector", "cross_lane"]
    lines = [f".tensor_core {SIDE} {SIDE} lanes={SIDE}", f".buffer in constant 0 {4 * len(sent)}"]
    lines += ["  .uint32 " + " ".join(str(word) for word in sent)]
    lines += [f".buffer out output 0x1000000 {4 * SIDE * rows}"] + chains
    lines += [f"infeed in hbm=0 rows={sent_rows} columns={SIDE}"]
    lines += ["sync.signal host_read sem=0; sync.wait dma_in sem=0", f"dma_in hbm=0 at=0 rows={sent_rows}"]
    for number, unit in enumerate(units):
        lines.append(f"sync.signal dma_in sem={number + 1}; sync.wait {unit} sem={number + 1}")
    lines += [text for _, text in work]
    for number, unit in enumerate(units[1:]):
        lines.append(f"sync.signal {unit} sem={number + 8}; sync.wait dma_out sem={number + 8}")
    lines += [f"dma_out hbm={results_at} at={results_at} rows={rows}"]
    lines += ["sync.signal dma_out sem=12; sync.wait host_write sem=12"]
    lines += [f"outfeed out hbm={results_at} rows={rows} columns={SIDE}", "halt"]
    return "\n".join(lines) + "\n", expected


def problems_of(words: list[int], expected: list[tuple[str, list]]) -> list[str]:
    problems = []
    for row, (name, each) in enumerate(expected):
        for lane, rule in enumerate(each):
            word = words[row * SIDE + lane]
            if callable(rule):
                if not rule(word):
                    problems.append(f"{name}, lane {lane}: {word:#010x} is not next to the exact number")
            elif word != rule:
                problems.append(f"{name}, lane {lane}: {word:#010x}, exactly {rule:#010x}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sim", type=Path)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--programs", type=int, default=4)
    options = parser.parse_args()
    failed = False
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        machine, program = Path(folder) / "machine.json", Path(folder) / "program.asm"
        machine.write_text(json.dumps(MACHINE))
        for number in range(options.programs):
            text, expected = text_of(random.Random(f"{options.seed} {number}"))
            program.write_text(text)
            for engine in ("wavefront", "pe"):
                command = [str(options.sim), "run", str(program), "--machine", str(machine), "--json"]
                command += ["--print", "out:int32", "--set", f"machine.matrix_unit.engine={engine}"]
                ended = subprocess.run(command, capture_output=True, text=True)
                if ended.returncode != 0:
                    print(f"seed {options.seed}, program {number}, {engine}: {ended.stderr.strip()}")
                    return 1
                words = [word & 0xFFFFFFFF for word in json.loads(ended.stdout)["buffers"][0]["values"]]
                compared += sum(len(row) for _, row in expected)
                for problem in problems_of(words, expected):
                    print(f"seed {options.seed}, program {number}, {engine}: {problem}")
                    failed = True
    print(f"seed {options.seed}: {compared} numbers of {options.programs} programs in two engines")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
