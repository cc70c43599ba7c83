#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes coefficients of src/core/simd/math_lanes.h.

Each polynomial has coefficients in single precision, and nearly the smallest possible largest relative error. From
the lowest term up, one coefficient is rounded, and the others are fitted again. The fit is Lawson's: least squares
whose weights are multiplied by the residuals until the largest residuals are equal. (A Remez exchange needs a basis
without common zeros, but x, x^2, ... are all zero at 0.) The program prints the coefficients and the error of each
polynomial.
"""
import mpmath
import numpy
from mpmath import mp, mpf

mp.dps = 40


def lawson(target, basis):
    """@return coefficients c that make max |target - basis c| small. The basis has one row for each point."""
    weight = numpy.full(len(target), 1.0 / len(target))
    best = None
    scale = numpy.abs(basis).max(axis=0)
    for _ in range(400):
        root = numpy.sqrt(weight)
        c = numpy.linalg.lstsq(basis / scale * root[:, None], target * root, rcond=None)[0] / scale
        residual = numpy.abs(target - basis @ c)
        if best is None or residual.max() < best[0]:
            best = (residual.max(), c)
        weight = weight * residual + 1e-30
        weight /= weight.sum()
    return best[1]


def fit(name, function, fixed, powers, low, high):
    """Fits function ~ sum of fixed[p] x^p + sum over powers of c_p x^p, with floats c_p."""
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mpmath.cos(mp.pi * i / 800) for i in range(801)]
    value = [function(x) for x in nodes]
    done = dict(fixed)
    left = list(powers)

    def error():
        """@return the relative error of the terms in `done`. The subtraction needs the digits of mpmath."""
        return numpy.array([float((v - sum(mpf(c) * x**p for p, c in done.items())) / v)
                            for x, v in zip(nodes, value)])

    while left:
        basis = numpy.array([[float(x**p / v) for p in left] for x, v in zip(nodes, value)])
        c = lawson(error(), basis)
        done[left.pop(0)] = float(numpy.float32(c[0]))
    print(f"{name}: largest relative error {numpy.abs(error()).max():.3g}")
    for p in powers:
        print(f"    x^{p}: {numpy.float32(done[p]).item().hex()}")


def split(name, value):
    """@return two floats whose sum is the constant."""
    high = float(numpy.float32(float(value)))
    low = float(numpy.float32(float(value - mpf(high))))
    print(f"{name}: {high.hex()} + {low.hex()}")


def nonzero(function, limit):
    """@return the function with a given value at 0, where the quotient has only a limit."""
    return lambda x: function(x) if x != 0 else mpf(limit)


def main():
    half_ln2 = mpmath.log(2) / 2
    split("ln 2", mpmath.log(2))
    split("1 / ln 2", 1 / mpmath.log(2))
    for degree in (5, 6):
        fit(f"exp, degree {degree}", mpmath.exp, {0: 1.0}, range(1, degree + 1),
            -half_ln2, half_ln2)
    # log(1 + f) = f - f^2/2 + f^3 P(f): relative to P the error of the whole is smaller still.
    cubic = nonzero(lambda f: (mpmath.log1p(f) - f + f * f / 2) / f**3, mpf(1) / 3)
    for degree in (7, 8):
        fit(f"log, P of degree {degree}", cubic, {}, range(0, degree + 1),
            mpmath.sqrt(2) / 2 - 1, mpmath.sqrt(2) - 1)
    # tanh x = x + x^3 Q(x^2)
    odd = nonzero(lambda z: (mpmath.tanh(mpmath.sqrt(z)) - mpmath.sqrt(z)) / mpmath.sqrt(z) ** 3,
                  -mpf(1) / 3)
    for degree in (4, 5):
        fit(f"tanh, Q of degree {degree}", odd, {}, range(0, degree + 1), 0, mpf("0.391"))


if __name__ == "__main__":
    main()
